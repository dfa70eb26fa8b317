"""One way to do each exercise of s03. Look after you have tried."""

from __future__ import annotations

import codecs
import errno
import json
import os
import stat
from collections.abc import Mapping, Sequence

from curriculum.core.errors import InvalidArgumentsError
from curriculum.core.tools import Prepared, RunningCall, ToolDefinition, ToolResult
from curriculum.core.trace import Event


# region: pair_results
def pair_results(events: Sequence[Event]) -> dict[str, tuple[str, str] | None]:
    """A. A call opens an entry, its result fills it; what stands in between does not matter."""
    pairs: dict[str, tuple[str, str] | None] = {}
    for event in events:
        call_id = str(event.payload.get("call_id"))
        if event.type == "tool.call":
            pairs[call_id] = None
        elif event.type == "tool.result":
            pairs[call_id] = (str(event.payload["status"]), str(event.payload["output"]))
    return pairs


# endregion


def one_string(arguments: str, name: str) -> str:
    """The string in `{"<name>": "..."}`, and nothing else. Raises InvalidArgumentsError."""
    try:
        fields = json.loads(arguments, object_pairs_hook=no_duplicates, parse_int=float)
    except RecursionError:
        raise InvalidArgumentsError("arguments are nested too deeply") from None
    except ValueError as fault:
        raise InvalidArgumentsError(f"arguments are not valid JSON: {fault}") from None
    if not isinstance(fields, dict) or list(fields) != [name]:
        raise InvalidArgumentsError(f"arguments must be an object with the one field {name}")
    text = fields[name]
    if not isinstance(text, str):
        raise InvalidArgumentsError(f"{name} must be a string")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidArgumentsError(f"{name} holds a lone surrogate") from None
    return text


def no_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """JSON lets a field come twice, and readers differ about which one counts."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise InvalidArgumentsError("a field is given twice")
    return fields


def string_schema(name: str, description: str) -> dict[str, object]:
    """The JSON Schema that `one_string` enforces."""
    return {
        "type": "object",
        "properties": {name: {"type": "string", "description": description}},
        "required": [name],
        "additionalProperties": False,
    }


# region: word_count
class WordCount:
    """B. The text is checked once and handed on; the tool itself keeps nothing."""

    @property
    def definition(self) -> ToolDefinition:
        schema = string_schema("text", "The text to count the words of.")
        return ToolDefinition("word_count", "Count the words of a text.", schema)

    def prepare(self, arguments: str) -> Prepared:
        text = one_string(arguments, "text")
        return Prepared({"text": text}, text)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        return ToolResult("completed", str(len(str(prepared.action).split())))


# endregion


# region: result_status
def row(status: str, *, asked: bool, starts: bool, read: bool) -> dict[str, object]:
    """One row of the table."""
    return {"status": status, "asked": asked, "starts": starts, "model reads it": read}


RESULT_STATUS: Mapping[str, Mapping[str, object]] | None = {
    "allowed and it works": row("completed", asked=True, starts=True, read=True),
    "allowed and it fails": row("failed", asked=True, starts=True, read=True),
    "denied": row("denied", asked=True, starts=False, read=True),
    "arguments break the definition": row(
        "invalid_arguments", asked=False, starts=False, read=True
    ),
    "no tool has that name": row("unknown_tool", asked=False, starts=False, read=True),
    "no model request is left": row("not_executed", asked=False, starts=False, read=False),
    "more calls than allowed": row("not_executed", asked=False, starts=False, read=False),
    "the tool has a bug": row("unknown", asked=True, starts=True, read=False),
    "the approver has a bug": row("not_executed", asked=True, starts=False, read=False),
    "cancelled before its turn": row("not_executed", asked=False, starts=False, read=False),
}
# endregion


# region: read_file
class ReadFile:
    """D. Checked twice: the path when it is prepared, the file when it is opened."""

    def __init__(self, directory: str, limit_bytes: int) -> None:
        self._directory = os.path.realpath(directory)
        self._limit_bytes = limit_bytes

    @property
    def definition(self) -> ToolDefinition:
        description = f"Read a text file, at most {self._limit_bytes} bytes of it."
        schema = string_schema("path", "A path relative to the working directory, without '..'.")
        return ToolDefinition("read_file", description, schema, parallel_safe=True)

    def prepare(self, arguments: str) -> Prepared:
        path = one_string(arguments, "path")
        if not path or "\0" in path or os.path.isabs(path) or ".." in path.split("/"):
            raise InvalidArgumentsError("path must be relative, without '..' and NUL")
        display = {
            "path": path,
            "directory": self._directory,
            "limit_bytes": self._limit_bytes,
        }
        return Prepared(display, path)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        try:
            data = self._read(str(prepared.action))
        except OSError as fault:
            return ToolResult("failed", f"cannot be read: {fault.strerror}")
        truncated = len(data) > self._limit_bytes
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        # A character that the cut goes through stays in the decoder; one broken off by the end of
        # the file is shown as U+FFFD.
        text = decoder.decode(data[: self._limit_bytes], final=not truncated)
        return ToolResult("completed", text, truncated=truncated)

    def _read(self, path: str) -> bytes:
        """The beginning of the file, and one byte more if there is one. Raises OSError."""
        real = os.path.realpath(os.path.join(self._directory, path))
        if os.path.commonpath([real, self._directory]) != self._directory:
            raise PermissionError(errno.EPERM, "it lies outside the directory")
        with open(real, "rb", opener=open_itself) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError(errno.EINVAL, "it is not a regular file")
            return file.read(self._limit_bytes + 1)


def open_itself(path: str, flags: int) -> int:
    """Open what is there: never wait for the other end of a pipe, never follow one more link."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOFOLLOW)


# endregion
