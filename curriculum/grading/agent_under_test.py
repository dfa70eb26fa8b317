"""What the agent conformance kit needs to know of an agent, and the room that it is tried in.

The room is a scratch folder with a person, a screen, and a model that does as it is told.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from curriculum.core.messages import Message, ModelTurn, ToolCall
from curriculum.core.model import Model, StreamingModel
from curriculum.core.seams import CancelToken
from curriculum.core.trace import Event
from curriculum.core.waiting import Waiter
from curriculum.grading.mistakes import mistake, quote

__unittest = True

DEEP = 's12, "Exercises", D'

Line = str | None


class Agent(Protocol):
    """What is put through the kit; see exercise D of s12."""

    @property
    def session_id(self) -> str:
        """The session's id."""

    @property
    def events(self) -> Sequence[Event]:
        """All events so far."""

    def turn(self, text: str) -> str:
        """Answer one input."""

    def close(self) -> None:
        """End the run."""


Make = Callable[
    [
        Model | StreamingModel,
        str,
        str,
        Callable[[str], Line],
        Callable[[str], object],
        Waiter,
    ],
    Agent,
]


def runs(call_id: str, command: str) -> ModelTurn:
    """An answer that asks for a command."""
    return ModelTurn(tool_calls=(ToolCall(call_id, "bash", json.dumps({"command": command})),))


class NoWaiter:
    """Waits no time at all, and counts how long it would have been."""

    def __init__(self) -> None:
        self.waited_us = 0

    def wait(self, wait_us: int, cancel: CancelToken) -> None:
        self.waited_us += wait_us


class Streams:
    """A model that streams as it is told."""

    def __init__(self, *answers: Sequence[str | ModelTurn | Exception]) -> None:
        self._answers = iter(answers)
        self.asked = 0

    def stream(
        self, messages: Sequence[Message], tools: Sequence[dict[str, object]]
    ) -> Iterator[str | ModelTurn]:
        self.asked += 1
        for item in next(self._answers):
            if isinstance(item, Exception):
                raise item
            yield item


class Room:
    """A folder to work in, a person with some lines to type, and a screen."""

    def __init__(self, make: Make, folder: str, *lines: Line | BaseException) -> None:
        self._make = make
        self.home, self.work = os.path.join(folder, "home"), Path(folder, "work")
        self.work.mkdir(exist_ok=True)
        self.lines = list(lines)
        self.questions: list[str] = []
        self.shown: list[str] = []
        self.waiter = NoWaiter()

    def ask(self, text: str) -> Line:
        self.questions.append(text)
        line = self.lines.pop(0) if self.lines else None
        if isinstance(line, BaseException):
            raise line
        return line

    @contextlib.contextmanager
    def agent(self, model: Model | StreamingModel, session_id: str = "") -> Iterator[Agent]:
        """An agent, made in the folder to work in, closed at the end."""
        before = os.getcwd()
        os.chdir(self.work)
        try:
            agent = self._make(
                model, self.home, session_id, self.ask, self.shown.append, self.waiter
            )
            try:
                yield agent
            finally:
                agent.close()
        finally:
            os.chdir(before)

    def kinds(self, session_id: str) -> list[str]:
        """The kinds of the records on disk."""
        path = os.path.join(self.home, "sessions", f"{session_id}.jsonl")
        with open(path, "rb") as file:
            return [json.loads(line)["kind"] for line in file]

    @property
    def screen(self) -> str:
        """All that a person has seen."""
        return "\n".join([*self.shown, *self.questions])


class Looks:
    """A model that looks at the disk before it answers."""

    def __init__(self, look: Callable[[], None], answers: Sequence[ModelTurn]) -> None:
        self._look, self._answers = look, iter(answers)

    def respond(self, messages: Sequence[Message], tools: Sequence[dict[str, object]]) -> ModelTurn:
        self._look()
        return next(self._answers)


def same(what: str, wanted: object, saw: object) -> None:
    if wanted != saw:
        raise mistake(f"{what}: {quote(wanted)}", quote(saw), DEEP)
