"""Strict arguments: the raw JSON text of a call becomes checked strings, or the reason why not.

Nothing is coerced and nothing is repaired: what a person approves is what the model wrote. Every
fault is an InvalidArgumentsError, whatever the text; no other exception leaves this module.
"""

from __future__ import annotations

import json

from curriculum.core.errors import InvalidArgumentsError
from curriculum.core.values import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NoReturn

MAX_COMMAND_BYTES = 16 * 1024
_LIMIT = f"a command is at most {MAX_COMMAND_BYTES} bytes (16 KiB) of UTF-8"
# JSON may spell one byte of a command in six characters (\u0061); beyond this nothing is parsed.
_MAX_TEXT = 6 * MAX_COMMAND_BYTES + 1024


# region: read
def read_command(arguments: str) -> str:
    """The command in `{"command": "..."}`, exactly as written.

    Raises InvalidArgumentsError for text that is no such object, and for a command that is blank,
    that bash cannot be given (NUL, lone surrogates) or that is over 16 KiB.
    """
    fields = _read_object(arguments, _MAX_TEXT, _LIMIT)
    if unknown := [name for name in fields if name != "command"]:
        raise InvalidArgumentsError(f"unknown field {_quote(unknown[0])}; the one field is command")
    if "command" not in fields:
        raise InvalidArgumentsError("the field command is missing")
    command = fields["command"]
    if not isinstance(command, str):
        raise InvalidArgumentsError(f"command must be a string, not {_json_type(command)}")
    if not command.strip():
        raise InvalidArgumentsError("command is empty or blank")
    if "\0" in command:
        raise InvalidArgumentsError("command holds a NUL character, which no program can be given")
    size = _size("command", command)
    if size > MAX_COMMAND_BYTES:
        raise InvalidArgumentsError(f"command is {size} bytes long; {_LIMIT}")
    return command


# endregion


# region: strings
def read_strings(arguments: str, names: tuple[str, ...], most_bytes: int) -> tuple[str, ...]:
    """The strings of an object with exactly the fields `names`, in that order, as written.

    Raises InvalidArgumentsError for text that is no such object, for lone surrogates, and for
    strings of more than `most_bytes` bytes of UTF-8 together.
    """
    limit = f"{' and '.join(names)}: at most {most_bytes} bytes of UTF-8"
    fields = _read_object(arguments, 6 * most_bytes + 1024, limit)
    if unknown := [name for name in fields if name not in names]:
        known = ", ".join(names)
        raise InvalidArgumentsError(f"unknown field {_quote(unknown[0])}; the fields are {known}")
    strings = []
    for name in names:
        if name not in fields:
            raise InvalidArgumentsError(f"the field {name} is missing")
        text = fields[name]
        if not isinstance(text, str):
            raise InvalidArgumentsError(f"{name} must be a string, not {_json_type(text)}")
        strings.append(text)
    size = sum(_size(name, text) for name, text in zip(names, strings, strict=True))
    if size > most_bytes:
        raise InvalidArgumentsError(f"they are {size} bytes long; {limit}")
    return tuple(strings)


# endregion


def _size(name: str, text: str) -> int:
    try:
        return len(text.encode())
    except UnicodeEncodeError as fault:
        where = f"at character {fault.start}"
        raise InvalidArgumentsError(f"{name} holds a lone surrogate {where}") from None


def _read_object(arguments: str, most: int, limit: str) -> dict[str, object]:
    if len(arguments) > most:
        raise InvalidArgumentsError(f"arguments are {len(arguments)} characters long; {limit}")
    try:
        fields = _STRICT.decode(arguments)
    except RecursionError:
        raise InvalidArgumentsError("arguments are nested too deeply") from None
    except ValueError as fault:
        raise InvalidArgumentsError(f"arguments are not valid JSON: {fault}") from None
    if not isinstance(fields, dict):
        raise InvalidArgumentsError(f"arguments must be an object, not {_json_type(fields)}")
    return fields


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields: dict[str, object] = {}
    for name, content in pairs:
        if name in fields:
            raise InvalidArgumentsError(f"duplicate field {_quote(name)}")
        fields[name] = content
    return fields


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidArgumentsError(f"arguments are not valid JSON: {name} is no JSON number")


def _json_type(content: object) -> str:
    names = {
        dict: "an object",
        list: "an array",
        str: "a string",
        float: "a number",
        bool: "a boolean",
    }
    return names.get(type(content), "null")


_STRICT = json.JSONDecoder(
    object_pairs_hook=_without_duplicates,
    parse_constant=_refuse_constant,
    parse_int=float,  # numbers are refused later; reading a huge one must not cost or fail
)


def _quote(name: str) -> str:
    """A name that the model chose, short and printable whatever it holds."""
    return repr(name if len(name) <= 40 else name[:40] + "...")
