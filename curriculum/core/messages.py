"""The words of the harness: what the model sees and what it answers, free of any provider.

`Message` is one entry of the model-visible state; `ModelTurn` is one complete answer. Both are
frozen: state changes by appending a message, never by editing one. A provider's own items (its
reasoning, its ids) travel in `opaque`, which the core stores and hands back untouched.
"""

from __future__ import annotations

from curriculum.core.values import TYPE_CHECKING, value

if TYPE_CHECKING:
    from typing import Literal

    Role = Literal["system", "user", "assistant", "tool"]


# region: toolcall
@value
class ToolCall:
    """A structured action that the model proposes. Nothing has run yet.

    `arguments` is the raw JSON text as the model sent it: it is checked by the tool that prepares
    it, never repaired. `call_id` pairs the call with its one result.
    """

    call_id: str
    name: str
    arguments: str = "{}"


# endregion


# region: message
@value
class Message:
    """One entry of the conversation as the model sees it.

    An assistant message carries the calls it asked for; a tool message names the call it answers.
    """

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None
    opaque: object = None


# endregion


@value
class Usage:
    """Tokens that the provider says one request took."""

    input_tokens: int
    output_tokens: int


# region: modelturn
@value
class ModelTurn:
    """One complete answer of the model: text, proposed calls, or both.

    `chunks` is the same text in the pieces it arrived in. `stop` is what the provider said about
    stopping: kept for diagnosis, never used to steer the loop.
    """

    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    chunks: tuple[str, ...] = ()
    stop: bool = False
    usage: Usage | None = None
    opaque: object = None

    @property
    def resolved_content(self) -> str:
        """The text of the turn: `content`, or the joined chunks when only those were given."""
        return self.content or "".join(self.chunks)


# endregion
