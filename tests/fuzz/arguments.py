"""Targets `bash`, `read_file`, `edit_file`: what a call may ask for, held against a second opinion.

Arguments are taken exactly if they are the one object that the definition describes; what is shown
is what was written, within its bounds; whatever is refused is refused in one short message.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable
from typing import Any

from curriculum.core.errors import InvalidArgumentsError
from curriculum.core.tools import Prepared, Tool
from curriculum.core.trace import to_json
from curriculum.tools.bash import Bash
from curriculum.tools.edit_file import Edit, EditFile
from curriculum.tools.read_file import ReadFile
from tests.fuzz.choices import ODD, Choices

BASH = Bash("/", {"PATH": "/usr/bin:/bin"})
READ, EDIT = ReadFile("/"), EditFile("/")
TEXTS = (
    *("", " ", "a", "ls -l", "a/b", "../a", "/etc/passwd", "a/../b", "./a", "a/", "a/.", ".", ".."),
    *("a\0b", "a\nb", "a\r\nb\n", "\n", "\ud800", "é\u2028\u202e", "a//b", "...", "a/..b"),
    *("x" * 4096, "é" * 2048, "x" * 4097, "\u4e2d" * 5461, "x" * 16384, "x" * 16385, "x" * 65535),
)
NAMES = ("command", "path", "old", "new", "Command", "", "extra", "x" * 50, "\ud800")


def text_of(choices: Choices, names: tuple[str, ...]) -> str:
    """The arguments of a call: bytes as they are, or an object that is about right."""
    what = choices.number(8)
    if what == 0:
        return choices.rest().decode("utf-8", "surrogateescape")
    pairs = []
    for name in names:
        if not choices.one_in(10):
            pairs.append((name, _content(choices)))
    while choices.one_in(6):
        pairs.append((choices.pick(NAMES), _content(choices)))
    ascii = bool(choices.number(2))
    fields = [f"{json.dumps(n, ensure_ascii=ascii)}: {c}" for n, c in pairs]
    text = "{" + ", ".join(fields) + "}"
    if choices.one_in(6):
        at = choices.number(min(len(text), 250) + 1)
        text = text[:at] + choices.pick(("}", '"', "NaN", "\\", "[", "1", "\0", " ")) + text[at:]
    if choices.one_in(20):
        text = choices.pick(
            ("[" * 3000, " " * 600_000 + text, text + text, "null", "[]", text + "\n")
        )
    return text


def _content(choices: Choices) -> str:
    if choices.one_in(12):
        return json.dumps(choices.pick(ODD))
    text = choices.pick(TEXTS) if choices.number(2) else choices.text()
    return json.dumps(text, ensure_ascii=bool(choices.number(2)))


# region: opinion
def second_opinion(text: str, names: tuple[str, ...]) -> dict[str, str] | None:
    """The object, if it is one of exactly these texts, by nothing of ours."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({name for name, _ in pairs}) < len(pairs):
            raise ValueError
        return dict(pairs)

    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        found = json.loads(text, object_pairs_hook=once, parse_constant=refuse, parse_int=float)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or set(found) != set(names):
        return None
    if not all(isinstance(field, str) for field in found.values()):
        return None
    try:
        "".join(found.values()).encode()
    except UnicodeEncodeError:
        return None
    return found


def size(*texts: str) -> int:
    return sum(len(text.encode()) for text in texts)


def bash_takes(found: dict[str, str]) -> bool:
    command = found["command"]
    return bool(command.strip()) and "\0" not in command and size(command) <= 16384


def path_is_fine(path: str) -> bool:
    if not path or size(path) > 4096 or "\0" in path or path.startswith("/"):
        return False
    steps = path.split("/")
    return ".." not in steps and steps[-1] not in ("", ".")


def edit_takes(found: dict[str, str]) -> bool:
    path, old, new = found["path"], found["old"], found["new"]
    fits = size(path, old, new) <= 65536 and "\0" not in old + new
    return fits and path_is_fine(path) and old not in ("", new)


# endregion


def check_call(
    data: bytes, tool: Tool, names: tuple[str, ...], takes: Callable[[dict[str, str]], bool]
) -> tuple[Prepared, dict[str, str]] | None:
    """Hold what is common to all tools; the operation and its fields, if it was taken."""
    text = text_of(Choices(data), names)
    found = second_opinion(text, names)
    try:
        prepared = tool.prepare(text)
    except InvalidArgumentsError as fault:
        said = str(fault)
    else:
        assert found is not None, text[:300]
        assert takes(found), text[:300]
        to_json(prepared.display)
        return prepared, found
    assert 0 < len(said) < 300, said
    assert said.isprintable(), said
    # Arguments are bounded before they are parsed: padding alone may be too much.
    assert found is None or not takes(found) or len(text) > 98304, text[:300]
    return None


def check_bash(data: bytes) -> str:
    """Target `bash`."""
    taken = check_call(data, BASH, ("command",), bash_takes)
    if taken is None:
        return "refused"
    prepared, found = taken
    assert prepared.display["command"] == found["command"]
    assert prepared.action.command == found["command"]  # type: ignore[attr-defined]
    return "taken"


def check_read_file(data: bytes) -> str:
    """Target `read_file`."""
    taken = check_call(data, READ, ("path",), lambda found: path_is_fine(found["path"]))
    return "taken" if taken and check_names(taken[0].action, taken[1]["path"]) else "refused"


def check_names(names: Any, path: str) -> bool:
    """The names lead where the path leads, and never up."""
    assert not {"", ".", ".."} & set(names)
    assert "/".join(names) == posixpath.normpath(path)
    return True


def check_edit_file(data: bytes) -> str:
    """Target `edit_file`."""
    taken = check_call(data, EDIT, ("path", "old", "new"), edit_takes)
    if taken is None:
        return "refused"
    prepared, found = taken
    edit = prepared.action
    assert isinstance(edit, Edit)
    check_names(edit.names, found["path"])
    assert (edit.old.decode(), edit.new.decode()) == (found["old"], found["new"])
    shown = str(prepared.display["diff"])
    assert side_of(shown, "- ") == found["old"]
    assert side_of(shown, "+ ") == found["new"]
    return "taken"


def side_of(diff: str, mark: str) -> str:
    """One of the two texts, read back from the diff that a person reviews."""
    lines: list[str] = []
    ours = False
    for line in diff.split("\n")[:-1]:
        if line == "\\ no line end":
            if ours:
                lines[-1] = lines[-1].removesuffix("\n")
            continue
        ours = line[:2] in ("  ", mark)
        if ours:
            lines.append(line[2:] + "\n")
    return "".join(lines)
