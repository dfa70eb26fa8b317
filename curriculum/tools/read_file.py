"""The read_file tool: the text of one file below the working directory, at most so much of it.

A read: it changes nothing, so it is declared `parallel_safe` and may run beside others like it.
"""

from __future__ import annotations

import os

from curriculum.core.tools import Prepared, ToolDefinition, ToolResult
from curriculum.core.values import TYPE_CHECKING
from curriculum.tools.arguments import read_strings
from curriculum.tools.folder import (
    MAX_PATH_BYTES,
    FileFault,
    check_path,
    decode,
    open_file,
    open_parent,
    read_up_to,
)
from curriculum.tools.report import shown_path

if TYPE_CHECKING:
    from curriculum.core.tools import RunningCall


class ReadFile:
    """Reads UTF-8 text below `directory` (absolute), at most `limit_bytes` of a file.

    `shown_as` names the directory to people and to the model; by default it is its path.
    """

    def __init__(self, directory: str, limit_bytes: int = 64 * 1024, shown_as: str = "") -> None:
        if not os.path.isabs(directory) or "\0" in directory or limit_bytes < 4:
            raise ValueError("the directory must be an absolute path, the limit at least 4 bytes")
        self._directory = os.path.realpath(directory)
        self._limit_bytes = limit_bytes
        self._shown = shown_as or shown_path(self._directory)

    @property
    def definition(self) -> ToolDefinition:
        description = (
            f"Read a UTF-8 text file below {self._shown}, at most the first "
            f"{self._limit_bytes} bytes. Symbolic links are not followed."
        )
        parameters = {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Relative path, without '..'."}
            },
            "required": ["path"],
            "additionalProperties": False,
        }
        return ToolDefinition("read_file", description, parameters, parallel_safe=True)

    def prepare(self, arguments: str) -> Prepared:
        """Check the arguments; nothing is opened. Raises InvalidArgumentsError."""
        (path,) = read_strings(arguments, ("path",), MAX_PATH_BYTES)
        names = check_path(path)
        display = {
            "path": path,
            "directory": self._shown,
            "limit_bytes": self._limit_bytes,
        }
        return Prepared(display, names)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        """Read what is there now."""
        names = prepared.action
        assert isinstance(names, tuple)
        if call.cancel.cancelled:
            return ToolResult("failed", "cancelled; nothing was read", reason="cancelled")
        try:
            with open_parent(self._directory, names) as folder, open_file(folder, names[-1]) as f:
                size = os.fstat(f).st_size
                data = read_up_to(f, self._limit_bytes + 1)
            cut = len(data) > self._limit_bytes
            text = decode(data[: self._limit_bytes], whole=not cut)
        except FileFault as fault:
            return ToolResult("failed", f"nothing was read: {fault}")
        except OSError as fault:
            return ToolResult("failed", f"nothing was read: {fault.strerror}")
        notes = (f"the file has {size} bytes; this is its beginning",) if cut else ()
        return ToolResult("completed", text, truncated=cut, notes=notes)
