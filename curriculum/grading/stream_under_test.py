"""What the streaming conformance kit needs to know of a model: a script in, a stream out.

`StreamUnderTest` is the harness that an author writes around a streaming model. For a model that
is wrapped round another one, `Wrapped` is that harness, with the scripted `Source` inside.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from curriculum.core.errors import ModelError
from curriculum.core.messages import Message, ModelTurn, ToolCall
from curriculum.core.model import Model, Retry, StreamingModel
from curriculum.grading.mistakes import mistake, quote

__unittest = True

STEPS = 's02, "Step by step"'


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
