"""`config.toml`: settings by name, each a text; a number or a switch may stand without quotes.

What is unknown or of another type is told, never skipped. A fault never quotes what stands in the
file: it may be a key.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection

from curriculum.core.visible import quote
from curriculum.core.whole_file import read_whole
from curriculum.mino.config_error import ConfigError

MOST_BYTES = 64 * 1024
NUMBERS = ("deadline", "max_cost", "max_tokens", "context_limit")
SWITCHES = ("allow_reads",)
_WORD = re.compile(r"[a-z_]{1,20}")
_WHERE = re.compile(r"\((at [^()]*)\)")


# region: file
def read_file(path: str, names: Collection[str]) -> dict[str, str]:
    """The settings in config.toml, by name; {} if there is no file. Raises ConfigError.

    With `api_key` in it, the file must be closed to other users.
    """
    try:
        text, mode = read_whole(path, MOST_BYTES), os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as fault:
        raise ConfigError(f"{quote(path)}: {fault.strerror} (errno {fault.errno})") from None
    import tomllib

    try:
        data = tomllib.loads(text.decode())
    except (ValueError, RecursionError) as fault:
        raise ConfigError(f"{quote(path)}: not TOML: {_without_text(fault)}") from None
    omit = data.get("omit")
    if isinstance(omit, list) and all(isinstance(name, str) for name in omit):
        data["omit"] = ",".join(omit)
    known = (*names, "api_key")
    for name, setting in data.items():
        if name not in known:
            what = quote(name) if _WORD.fullmatch(name) else "a setting"  # it may be a key
            raise ConfigError(f"{quote(path)}: unknown {what}; known are {', '.join(known)}")
        is_number = name in NUMBERS and type(setting) in (int, float)
        if is_number or (name in SWITCHES and isinstance(setting, bool)):
            data[name] = hex(setting) if _is_endless(setting) else str(setting)
        elif not isinstance(setting, str):
            raise ConfigError(f"{quote(path)}: {name} must be a text in quotes")
    if "api_key" in data and stat.S_IMODE(mode) & 0o077:
        raise ConfigError(
            f"{quote(path)}: holds a key and is open to other users; run: chmod 600 on it"
        )
    return data


# endregion


def _without_text(fault: Exception) -> str:
    """Where the fault is, without what stands there: it may be a key."""
    found = _WHERE.search(str(fault))
    return found[1] if found else "cannot be read"


def _is_endless(number: float) -> bool:
    """Whether Python refuses to write it in decimal: TOML's hexadecimal numbers may be so long."""
    return isinstance(number, int) and abs(number) >= 10**18
