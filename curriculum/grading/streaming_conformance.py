"""A conformance kit for streaming models: whatever yields text and then the ModelTurn of it.

A small harness (`stream_under_test`) builds the model on a provider that streams what the kit says.
Whatever the model does to the text, pieces and turn must agree, and what was shown is never taken
back.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from curriculum.core.errors import TransientModelError
from curriculum.core.loop import AgentRunner
from curriculum.core.messages import ToolCall
from curriculum.core.model import Retry
from curriculum.core.trace import Event
from curriculum.grading.mistakes import collect, mistake, place, quote
from curriculum.grading.stream_under_test import (
    Seen,
    Streamed,
    StreamUnderTest,
    cut,
    prose,
    watch_stream,
)

__unittest = True

STEPS = 's02, "Step by step"'
INVARIANTS = 's02, "Invariants"'


def check_stream(under_test: StreamUnderTest, seed: int = 0) -> list[str]:
    """Put a model through all checks that apply. Returns what is wrong: nothing, if it conforms."""
    checks = _Checks(under_test, random.Random(seed)).all()
    if unknown := under_test.lacks.keys() - checks.keys():
        raise ValueError(f"lacks names no check of this kit: {sorted(unknown)}")
    return collect({n: c for n, c in checks.items() if n not in under_test.lacks}, STEPS)


class _Checks:
    """One method a check. Texts and cuts differ with the seed."""

    def __init__(self, under_test: StreamUnderTest, rng: random.Random) -> None:
        self._under_test = under_test
        self._rng = rng

    def all(self) -> dict[str, Callable[[], None]]:
        """The checks by name."""
        return {
            "nothing is lost": self.nothing_lost,
            "empty answer": self.empty,
            "as it arrives": self.as_it_arrives,
            "calls": self.calls,
            "dropped before text": self.dropped_before,
            "dropped after text": self.dropped_after,
            "retries": self.retries,
            "no memory": self.no_memory,
            "behind AgentRunner": self.behind_runner,
        }

    def _answer(self, words: int = 12) -> Streamed:
        return Streamed(cut(prose(self._rng, words), self._rng))

    def _completed(self, seen: Seen, answer: Streamed) -> None:
        """The stream showed the whole text, and its turn says the same."""
        if seen.fault:
            saw = f"it raised {type(seen.fault).__name__}: {seen.fault}{place(seen.fault)}"
            raise mistake("an answer", saw, STEPS)
        if seen.turn is None:
            raise mistake("a ModelTurn at the end of the stream", "it just ended", STEPS)
        wanted, content = self._under_test.shown(answer.text), seen.turn.resolved_content
        if seen.text != wanted:
            expected = f"the pieces to add up to {wanted!r}"
            raise mistake(expected, f"they add up to {seen.text!r}", INVARIANTS)
        if content != wanted:
            raise mistake(f"the turn to hold {wanted!r}", f"it holds {content!r}", INVARIANTS)

    def nothing_lost(self) -> None:
        for words in (1, 2, 30):
            answer = self._answer(words)
            self._completed(watch_stream(self._under_test.build([answer])), answer)

    def empty(self) -> None:
        answer = Streamed()
        self._completed(watch_stream(self._under_test.build([answer])), answer)

    def as_it_arrives(self) -> None:
        answer, first = self._answer(60), [0]

        def note(seen: Seen) -> None:
            first[0] = first[0] or self._under_test.given()

        watch_stream(self._under_test.build([answer]), each=note)
        if first[0] > len(answer.pieces) // 2:
            saw = f"the first was shown when {first[0]} of {len(answer.pieces)} had arrived"
            raise mistake("text to be shown while more of it arrives", saw, STEPS)

    def calls(self) -> None:
        calls = (ToolCall("a1", "look", '{"x":  1}'), ToolCall("a2", "look", "{"))
        answer = Streamed(cut(prose(self._rng), self._rng), calls)
        seen = watch_stream(self._under_test.build([answer]))
        self._completed(seen, answer)
        if seen.turn and seen.turn.tool_calls != calls:
            saw = f"the turn holds {quote(seen.turn.tool_calls)}"
            raise mistake("the calls of the answer, unchanged and in order", saw, STEPS)

    def dropped_before(self) -> None:
        self._dropped(Streamed(fault=TransientModelError("the line broke")), "")

    def dropped_after(self) -> None:
        whole = self._answer(30)
        answer = Streamed(whole.pieces[:20], fault=TransientModelError("the line broke"))
        self._dropped(answer, self._under_test.shown(whole.text))

    def _dropped(self, answer: Streamed, whole: str) -> None:
        seen = watch_stream(self._under_test.build([answer]))
        expected = "the fault of a dropped stream to come out as it went in (TransientModelError)"
        if seen.turn is not None:
            saw = f"it was swallowed and became the answer {quote(seen.turn.resolved_content)}"
            raise mistake(expected, saw, 's02, "Common mistakes"')
        if not isinstance(seen.fault, TransientModelError):
            saw = f"out came {type(seen.fault).__name__}: {seen.fault}"
            raise mistake(expected, saw, 's02, "Common mistakes"')
        if not whole.startswith(seen.text):
            raise mistake(f"a beginning of {whole!r}", f"shown was {seen.text!r}", INVARIANTS)

    def retries(self) -> None:
        retry = Retry("overloaded", self._rng.randrange(1000))
        answer = Streamed(self._answer().pieces, retries=(retry,))
        seen = watch_stream(self._under_test.build([answer]))
        if seen.retries != [retry]:
            raise mistake(f"{retry} to be passed on", f"what came: {seen.retries}", STEPS)
        self._completed(seen, answer)

    def no_memory(self) -> None:
        broken = Streamed(self._answer().pieces[:3], fault=TransientModelError("broken"))
        answer = self._answer()
        model = self._under_test.build([broken, answer, answer])
        watch_stream(model)
        for _ in range(2):
            self._completed(watch_stream(model), answer)

    def behind_runner(self) -> None:
        call = ToolCall("a1", "fiction")
        script = [Streamed(self._answer().pieces, (call,)), self._answer()]
        result = AgentRunner(self._under_test.build(script)).run("go")
        if result.stop_reason != "completed":
            raise mistake("a run that completes", f"{result.error!r}", STEPS)
        check_deltas(result.events)
        texts = [m.content for m in result.messages if m.role == "assistant"]
        wanted = [self._under_test.shown(answer.text) for answer in script]
        if texts != wanted:
            raise mistake(f"assistant messages {wanted}", f"messages hold {texts}", INVARIANTS)


def check_deltas(events: Sequence[Event]) -> None:
    """Rules D01 to D05 of Trace 0.1 for every response of the trace."""
    shown: list[Event] = []
    request_id = None
    for event in events:
        if event.type == "model.request":
            request_id, shown = event.payload["request_id"], []
        elif event.type == "model.delta":
            if event.payload["request_id"] != request_id:
                raise mistake("deltas between request and response", f"{event.payload}", STEPS)
            shown.append(event)
        elif event.type == "model.response":
            indexes = [delta.payload["index"] for delta in shown]
            text = "".join(str(delta.payload["text"]) for delta in shown)
            if indexes != list(range(len(shown))):
                raise mistake("delta indexes without a gap", f"the trace shows {indexes}", STEPS)
            if shown and event.payload["content"] != text:
                saw = f"{text!r} against {event.payload['content']!r}"
                raise mistake("deltas that add up to the response", saw, INVARIANTS)
            request_id = None
