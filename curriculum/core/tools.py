"""What can act: the three steps of a tool, and the box that holds them.

Definition says what the model may ask for, prepare checks the arguments and touches nothing,
execute runs exactly what was prepared. Approval sits between the last two, so what a person
reviewed is what runs.
"""

from __future__ import annotations

from _collections_abc import Mapping

from curriculum.core.errors import PreparationError
from curriculum.core.trace import MAX_INTEGER, to_json
from curriculum.core.values import TYPE_CHECKING, Protocol, value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Literal

    from curriculum.core.messages import ToolCall
    from curriculum.core.seams import CancelToken

    ResultStatus = Literal[
        "completed",
        "failed",
        "denied",
        "invalid_arguments",
        "unknown_tool",
        "not_executed",
        "unknown",
    ]

RAN = ("completed", "failed", "unknown")


@value
class ToolDefinition:
    """What the model is told: a name, one sentence, and the JSON Schema of the arguments.

    `parallel_safe` says that running beside other such calls changes nothing (a read).
    """

    name: str
    description: str
    parameters: Mapping[str, object]
    parallel_safe: bool = False

    def descriptor(self) -> dict[str, object]:
        """The definition as plain data, for an adapter to translate."""
        return {
            "name": self.name,
            "description": self.description,
            "parameters": copy_data(self.parameters),
        }


@value
class Prepared:
    """A checked operation: `display` is what people may see of it, `action` is what will run.

    `display` holds JSON scalars or flat mappings of them. Observers get copies.
    """

    display: Mapping[str, object]
    action: object


@value
class ToolResult:
    """What a call came to. The status says whether anything ran; see `schemas/trace-0.1`.

    `reason` is one word for why it failed (timeout, output-limit, cancelled, signal); `notes` are
    the harness's own remarks and never part of the captured output.
    """

    status: ResultStatus
    output: str = ""
    exit_code: int | None = None
    truncated: bool = False
    reason: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def is_outcome(self) -> bool:
        """Whether a tool may say this of a call that ran: a status of running, fields of the
        right types, and a reason of lower-case letters and hyphens.
        """
        code, reason = self.exit_code, self.reason
        return (
            self.status in RAN
            and isinstance(self.output, str)
            and (code is None or (type(code) is int and abs(code) <= MAX_INTEGER))
            and isinstance(self.truncated, bool)
            and (reason is None or (isinstance(reason, str) and _is_word(reason)))
            and all(isinstance(note, str) for note in self.notes)
        )

    def payload(self) -> dict[str, object]:
        """The result as plain data, without the fields that say nothing."""
        data: dict[str, object] = {"status": self.status, "output": self.output}
        if self.exit_code is not None:
            data["exit_code"] = self.exit_code
        if self.truncated:
            data["truncated"] = True
        if self.reason:
            data["reason"] = self.reason
        if self.notes:
            data["notes"] = list(self.notes)
        return data

    def content(self) -> str:
        """The result as the model reads it: one JSON object."""
        return to_json(self.payload())


@value
class RunningCall:
    """What a tool may use while it runs: its id, the cancel token, and a place for live output.

    `output(stream, text)` may be called from any thread; after the result it raises KeyError.
    """

    call_id: str
    cancel: CancelToken
    output: Callable[[str, str], None]


# region: tool
class Tool(Protocol):
    """Anything that can act for the model."""

    @property
    def definition(self) -> ToolDefinition:
        """What the model may ask for."""

    def prepare(self, arguments: str) -> Prepared:
        """Check the raw arguments without side effects; raise InvalidArgumentsError to refuse."""

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        """Run what was prepared. Expected failures are results; only bugs raise."""


# endregion


class ToolBox:
    """The tools of one runner, by name.

    `granted` names the tools that whoever assembles the harness lets run without a question.
    Every other call goes to the approver.
    """

    def __init__(self, tools: Iterable[Tool] = (), granted: Iterable[str] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if not isinstance(tool.definition, ToolDefinition):
                raise TypeError(f"the definition of {tool!r} is no ToolDefinition")
            if tool.definition.name in self._tools:
                raise ValueError(f"two tools are named {tool.definition.name!r}")
            self._tools[tool.definition.name] = tool
        self.granted = frozenset(granted)
        if unknown := self.granted - self._tools.keys():
            raise ValueError(f"granted names no tool of this box: {sorted(unknown)}")

    def names(self) -> list[str]:
        """Tool names in the order given."""
        return list(self._tools)

    def descriptors(self) -> list[dict[str, object]]:
        """What the model is told of the tools: name, description, parameters (JSON Schema)."""
        return [tool.definition.descriptor() for tool in self._tools.values()]

    def get(self, name: str) -> Tool | None:
        """The tool of that name, if this box has it."""
        return self._tools.get(name)

    def prepare(self, call: ToolCall) -> Prepared | ToolResult:
        """The prepared operation, or the result that says why there is none."""
        tool = self.get(call.name)
        if tool is None:
            known = ", ".join(self._tools) or "none"
            return ToolResult("unknown_tool", f"no tool is named {call.name!r}; tools: {known}")
        try:
            prepared = tool.prepare(call.arguments)
        except PreparationError as refusal:
            return ToolResult(refusal.status, str(refusal))
        if not isinstance(prepared, Prepared):
            raise TypeError(f"prepare returned {prepared!r}, not what was prepared")
        _check_display(prepared.display)  # what observers could not be shown is a bug: found now
        return prepared

    def execute(self, name: str, prepared: Prepared, call: RunningCall) -> ToolResult:
        """Run what was prepared. A tool that gives back anything but an outcome is a bug."""
        result = self._tools[name].execute(prepared, call)
        if not isinstance(result, ToolResult) or not result.is_outcome:
            raise TypeError(f"the tool {name!r} returned {result!r}, not what came of running")
        return result


def copy_data(node: object) -> object:
    """Plain data that shares nothing with `node`: mappings become dicts, lists and tuples lists."""
    if isinstance(node, Mapping):
        return {name: copy_data(field) for name, field in node.items()}
    if isinstance(node, (list, tuple)):
        return [copy_data(item) for item in node]
    return node


def copy_display(display: Mapping[str, object]) -> dict[str, object]:
    """A copy that shares nothing with the prepared call."""
    return {name: copy_data(field) for name, field in display.items()}


def _check_display(display: Mapping[str, object]) -> None:
    """Raise TypeError or ValueError unless it is scalars, or flat mappings of them, for JSON."""
    to_json(display)
    for field in display.values():
        for scalar in field.values() if isinstance(field, Mapping) else (field,):
            if isinstance(scalar, (list, tuple, Mapping)):
                raise TypeError(f"a display holds scalars and flat mappings of them, not {field!r}")


def _is_word(text: str) -> bool:
    return 0 < len(text) <= 64 and text[0] != "-" and all(c == "-" or "a" <= c <= "z" for c in text)
