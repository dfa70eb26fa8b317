"""What the model conformance kit needs to know of a provider: answers in, requests out.

The words are neutral. An adapter's author writes one small harness, `ModelUnderTest`, that says
them in the words of one provider's SDK or protocol.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from curriculum.core.messages import ToolCall
from curriculum.core.model import Model, StreamingModel
from curriculum.core.tools import Prepared, RunningCall, ToolDefinition, ToolResult


@dataclass(frozen=True)
class Answer:
    """What the provider answers. `private` is an item of its own that it wants to see again.

    `unknown` adds content of a kind that the adapter cannot know; `cut` says that the provider
    stopped in the middle, because the answer had become too long.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    private: str = ""
    unknown: bool = False
    cut: bool = False


@dataclass(frozen=True)
class Failure:
    """The provider fails: it may work later, it never will, or the request was too long."""

    kind: Literal["transient", "permanent", "overflow"]
    message: str


Script = Sequence[Answer | Failure]


@dataclass(frozen=True)
class Entry:
    """One entry of a request as the provider got it; the system prompt stands in `Sent.system`."""

    role: str
    text: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None
    private: str = ""


@dataclass(frozen=True)
class Sent:
    """One request as the provider got it. `tools` are (name, description, JSON Schema)."""

    system: str
    entries: tuple[Entry, ...]
    tools: tuple[tuple[str, str, Mapping[str, object]], ...] = ()


class ModelUnderTest(Protocol):
    """The harness around one kind of model."""

    @property
    def lacks(self) -> Mapping[str, str]:
        """Names of checks that do not apply to this kind of model, each with the reason."""

    def build(self, script: Script) -> Model | StreamingModel:
        """A fresh model whose provider will give these answers, in order."""

    def sent(self) -> Sequence[Sent]:
        """What the provider of the model built last was sent, oldest first."""


class Echo:
    """A tool that gives its arguments back."""

    def __init__(self, name: str) -> None:
        properties = {"text": {"type": "string", "description": f"for {name}"}}
        self.definition = ToolDefinition(
            name,
            f"Gives the text back ({name}).",
            {
                "type": "object",
                "properties": properties,
                "required": ["text"],
                "additionalProperties": False,
            },
        )

    def prepare(self, arguments: str) -> Prepared:
        return Prepared({"text": arguments}, arguments)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        return ToolResult("completed", str(prepared.action))
