"""A conformance kit for streaming models: whatever yields text and then the ModelTurn of it.

A small harness, `StreamUnderTest`, builds the model on a provider that streams what the kit says
(`Streamed`). For a model that is wrapped round another one, `Wrapped` is that harness. Whatever the
model does to the text, pieces and turn must agree, and what was shown is never taken back.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from curriculum.core.errors import ModelError, TransientModelError
from curriculum.core.loop import AgentRunner
from curriculum.core.messages import Message, ModelTurn, ToolCall
from curriculum.core.model import Model, Retry, StreamingModel
from curriculum.core.trace import Event
from curriculum.grading.mistakes import collect, mistake, place, quote

__unittest = True

STEPS = 's02, "Step by step"'
INVARIANTS = 's02, "Invariants"'


@dataclass(frozen=True)
class Streamed:
    """One answer as the provider streams it: its pieces, then either the turn or the fault."""

    pieces: tuple[str, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    fault: Exception | None = None
    retries: tuple[Retry, ...] = ()  # attempts that failed before any text

    @property
    def text(self) -> str:
        """What the pieces add up to."""
        return "".join(self.pieces)


class StreamUnderTest(Protocol):
    """The harness around one kind of streaming model."""

    @property
    def lacks(self) -> Mapping[str, str]:
        """Names of checks that do not apply to this kind of model, each with the reason."""

    def build(self, script: Sequence[Streamed]) -> StreamingModel:
        """A fresh model whose provider streams these answers, in order."""

    def given(self) -> int:
        """How many pieces of the present answer the provider has handed out so far."""

    def shown(self, text: str) -> str:
        """What a reader should see of the provider's text: for most models all of it, unchanged."""


@dataclass
class Source:
    """A streaming model that plays a script. `watch` is called whenever it is asked for more."""

    script: Sequence[Streamed]
    watch: Callable[[str], None] = lambda given: None
    given: int = 0
    requests: list[tuple[Message, ...]] = field(default_factory=list)

    def stream(
        self, messages: Sequence[Message], tools: Sequence[dict[str, object]]
    ) -> Iterator[str | Retry | ModelTurn]:
        self.requests.append(tuple(messages))
        if len(self.requests) > len(self.script):
            raise ModelError("the script has no answer left")
        answer, self.given = self.script[len(self.requests) - 1], 0
        yield from answer.retries
        for number, piece in enumerate(answer.pieces, 1):
            self.given = number
            yield piece
            self.watch("".join(answer.pieces[:number]))
        if answer.fault:
            raise answer.fault
        yield ModelTurn(answer.text, answer.calls, stop=not answer.calls, opaque=["private"])


class Wrapped:
    """The harness for a model of the form `wrap(model)`."""

    lacks: Mapping[str, str] = {}

    def __init__(
        self,
        wrap: Callable[[Model | StreamingModel], StreamingModel],
        shown: Callable[[str], str] = lambda text: text,
    ) -> None:
        self._wrap = wrap
        self._shown = shown
        self._source = Source(())

    def build(self, script: Sequence[Streamed]) -> StreamingModel:
        self._source = Source(script)
        return self._wrap(self._source)

    def given(self) -> int:
        return self._source.given

    def shown(self, text: str) -> str:
        return self._shown(text)


@dataclass
class Seen:
    """What came out of a stream: pieces shown, retries, the turn or the fault at its end."""

    pieces: list[str] = field(default_factory=list)
    retries: list[Retry] = field(default_factory=list)
    turn: ModelTurn | None = None
    fault: Exception | None = None

    @property
    def text(self) -> str:
        """All that was shown."""
        return "".join(self.pieces)


PROMPT = (Message("user", "go"),)


def watch_stream(
    model: StreamingModel,
    messages: Sequence[Message] = PROMPT,
    each: Callable[[Seen], None] = lambda seen: None,
) -> Seen:
    """Read a stream to its end, however it ends. `each` is called after every piece."""
    seen = Seen()
    try:
        for item in model.stream(messages, ()):
            if seen.turn is not None:
                raise mistake("the ModelTurn to be the last thing", f"then {quote(item)}", STEPS)
            if isinstance(item, ModelTurn):
                seen.turn = item
            elif isinstance(item, Retry):
                seen.retries.append(item)
            elif isinstance(item, str):
                if not item:
                    raise mistake("pieces that hold text", "an empty piece was yielded", STEPS)
                seen.pieces.append(item)
                each(seen)
            else:
                raise mistake("text, then a ModelTurn", f"it yielded {quote(item)}", STEPS)
    except (AssertionError, NotImplementedError):
        raise
    except Exception as fault:
        seen.fault = fault
    return seen


def check_stream(under_test: StreamUnderTest, seed: int = 0) -> list[str]:
    """Put a model through all checks that apply. Returns what is wrong: nothing, if it conforms."""
    checks = _Checks(under_test, random.Random(seed)).all()
    if unknown := under_test.lacks.keys() - checks.keys():
        raise ValueError(f"lacks names no check of this kit: {sorted(unknown)}")
    return collect({n: c for n, c in checks.items() if n not in under_test.lacks}, STEPS)


def cut(text: str, rng: random.Random) -> tuple[str, ...]:
    """The text in pieces of random length, 1 to 9 characters."""
    pieces = []
    while text:
        size = rng.randint(1, 9)
        pieces.append(text[:size])
        text = text[size:]
    return tuple(pieces)


def prose(rng: random.Random, words: int = 12) -> str:
    """Words of several scripts with all kinds of white space between, before and behind them."""
    spaces = [" ", "  ", "\n", "\n\n", "\t", "\u00a0", "\u2028", " \n "]
    letters = ["abc", "\u00e9t\u00e9", "\u4e16\u754c", "\U0001f600!", "don't", "x=1;", "-"]
    text = "".join(
        rng.choice(letters) + str(rng.randrange(1000)) + rng.choice(spaces) for _ in range(words)
    )
    return rng.choice(["", "\n", "  "]) + text + rng.choice(["", "end"])


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
