"""The edit_file tool: one exact replacement in one file, whole or not at all.

A write: it runs alone and in order. The old text must stand in the file exactly once; nothing is
normalised, so every byte outside the replacement stays. The new content is made durable beside
the file and then takes its name; whoever reads meanwhile sees the old file or the new one.
"""

from __future__ import annotations

import contextlib
import io
import os
import secrets
import stat

from curriculum.core.errors import InvalidArgumentsError
from curriculum.core.tools import Prepared, ToolDefinition, ToolResult
from curriculum.core.values import TYPE_CHECKING, value
from curriculum.tools.arguments import read_strings
from curriculum.tools.folder import (
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

MAX_TEXT_BYTES = 64 * 1024


@value
class Edit:
    """Exactly what will be replaced by what, and where."""

    names: tuple[str, ...]
    old: bytes
    new: bytes


class EditFile:
    """Replaces text in files below `directory` (absolute) of at most `limit_bytes`.

    `shown_as` names the directory to people and to the model; by default it is its path.
    """

    def __init__(self, directory: str, limit_bytes: int = 1024 * 1024, shown_as: str = "") -> None:
        if not os.path.isabs(directory) or "\0" in directory or limit_bytes < 1:
            raise ValueError("the directory must be an absolute path, the limit above 0")
        self._directory = os.path.realpath(directory)
        self._limit_bytes = limit_bytes
        self._shown = shown_as or shown_path(self._directory)

    @property
    def definition(self) -> ToolDefinition:
        description = (
            f"Replace a text in a UTF-8 file below {self._shown}. `old` must stand "
            "in the file exactly once, character by character, line ends and spaces included. "
            f"Files of at most {self._limit_bytes} bytes; symbolic links are not followed."
        )
        fields = {
            "path": "Relative path of an existing file, without '..'.",
            "old": "The text to replace, with enough around it to be found only once.",
            "new": "What stands there instead; empty to delete.",
        }
        parameters = {
            "type": "object",
            "properties": {
                name: {"type": "string", "description": said} for name, said in fields.items()
            },
            "required": list(fields),
            "additionalProperties": False,
        }
        return ToolDefinition("edit_file", description, parameters)

    # region: prepare
    def prepare(self, arguments: str) -> Prepared:
        """Check the arguments; nothing is opened, the diff is of the two texts.

        Raises InvalidArgumentsError.
        """
        path, old, new = read_strings(arguments, ("path", "old", "new"), MAX_TEXT_BYTES)
        names = check_path(path)
        if not old:
            raise InvalidArgumentsError("old is empty; name the text to replace")
        if old == new:
            raise InvalidArgumentsError("old and new are the same; there is nothing to do")
        if "\0" in old + new:
            raise InvalidArgumentsError("old or new holds a NUL character, which no text holds")
        display = {
            "path": path,
            "directory": self._shown,
            "diff": diff_of(old, new),
            "notice": "replaces the file; there is no undo",
        }
        return Prepared(display, Edit(names, old.encode(), new.encode()))

    # endregion

    # region: execute
    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        """Replace, if the text stands there exactly once; else the file is as it was."""
        edit = prepared.action
        assert isinstance(edit, Edit)
        if call.cancel.cancelled:
            return ToolResult("failed", "cancelled; nothing was changed", reason="cancelled")
        try:
            with open_parent(self._directory, edit.names) as folder:
                with open_file(folder, edit.names[-1], to_change=True) as file:
                    seen = os.fstat(file)
                    data = read_up_to(file, self._limit_bytes + 1)
                changed = self._replace(data, edit)
                durable = replace_file(folder, edit.names[-1], seen, changed)
        except FileFault as fault:
            return ToolResult("failed", f"nothing was changed: {fault}")
        except OSError as fault:
            return ToolResult("failed", f"nothing was changed: {fault.strerror}")
        line = data[: data.index(edit.old)].count(b"\n") + 1
        notes = () if durable else ("the change may not survive a power failure",)
        return ToolResult("completed", f"replaced at line {line}", notes=notes)

    # endregion

    def _replace(self, data: bytes, edit: Edit) -> bytes:
        limit = f"{self._limit_bytes} bytes"
        if len(data) > self._limit_bytes:
            raise FileFault(f"the file is larger than {limit}")
        decode(data, whole=True)
        count = _occurrences(data, edit.old)
        crlf = data.count(b"\r\n")
        only_crlf = crlf > 0 and crlf == data.count(b"\n")
        if count == 0:
            is_cause = only_crlf and b"\n" in edit.old
            hint = "; the lines of this file end with \\r\\n" if is_cause else ""
            raise FileFault(f"old is not in the file{hint}")
        if count > 1:
            raise FileFault(f"old stands in the file {count} times; name more around it")
        if only_crlf and edit.new.count(b"\n") != edit.new.count(b"\r\n"):
            raise FileFault("the lines of this file end with \\r\\n, those of new do not")
        changed = data.replace(edit.old, edit.new)
        if len(changed) > self._limit_bytes:
            raise FileFault(f"the file would be larger than {limit}")
        return changed


# region: diff
def diff_of(old: str, new: str) -> str:
    """The lines that stay, go (-) and come (+), as a person reviews them.

    Only equal lines at the beginning and the end count as staying: that is plain to read, and
    takes no longer for a text that was made to be hard to compare.
    """
    before, after = list(io.StringIO(old)), list(io.StringIO(new))
    head = _equal(before, after)
    most = min(len(before), len(after)) - head
    tail = min(_equal(before[::-1], after[::-1]), most)
    parts = {
        "  ": before[:head],
        "- ": before[head : len(before) - tail],
        "+ ": after[head : len(after) - tail],
    }
    shown = [mark + line for mark, lines in parts.items() for line in lines]
    shown += ["  " + line for line in before[len(before) - tail :]]
    return "".join(line if line.endswith("\n") else f"{line}\n\\ no line end\n" for line in shown)


# endregion


def _equal(some: list[str], others: list[str]) -> int:
    """How many lines are equal before the first that is not."""
    pairs = zip(some, others, strict=False)
    return next(
        (n for n, (one, other) in enumerate(pairs) if one != other), min(len(some), len(others))
    )


def _occurrences(data: bytes, old: bytes) -> int:
    """How often `old` stands in `data`; overlapping ones count, as any of them could be meant."""
    count, at = 0, data.find(old)
    while at >= 0:
        count, at = count + 1, data.find(old, at + 1)
    return count


# region: replace
def replace_file(folder: int, name: str, seen: os.stat_result, data: bytes) -> bool:
    """Give the file new content, whole or not at all; returns whether it is surely durable.

    `seen` is the file as it was read. Raises FileFault if it is another one by now, and OSError;
    then nothing has changed. Between that last look and the rename another writer can still slip
    in: no system call compares and renames in one step.
    """
    beside = f".edit-{secrets.token_hex(8)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    file = os.open(beside, flags, 0o600, dir_fd=folder)
    try:
        try:
            _write_all(file, data)
            mine = os.fstat(file)
            if (mine.st_uid, mine.st_gid) != (seen.st_uid, seen.st_gid):
                os.fchown(file, seen.st_uid, seen.st_gid)
            os.fchmod(file, stat.S_IMODE(seen.st_mode))
            os.fsync(file)
        finally:
            os.close(file)
        now = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if _identity(now) != _identity(seen):
            raise FileFault("somebody else has changed the file meanwhile; read it again")
        os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        _remove(folder, beside)
        raise
    try:
        os.fsync(folder)
    except OSError:
        return False
    return True


# endregion


def _write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _remove(folder: int, name: str) -> None:
    with contextlib.suppress(FileNotFoundError):  # unless it has taken the file's name
        os.unlink(name, dir_fd=folder)
