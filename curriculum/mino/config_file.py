"""`config.toml`: settings by name, each a text; a number or a switch may stand without quotes.

What is unknown or of another type is told, never skipped. A fault never quotes what stands in the
file: it may be a key.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection

from curriculum.core.visible import quote
from curriculum.mino.config_error import ConfigError

NUMBERS = ("deadline", "max_cost", "max_tokens", "context_limit")
SWITCHES = ("allow_reads",)


# region: file
def read_file(path: str, names: Collection[str]) -> dict[str, str]:
    """The settings in config.toml, by name; {} if there is no file. Raises ConfigError.

    With `api_key` in it, the file must be closed to other users.
    """
    try:
        with open(path, "rb") as file:
            mode, text = os.fstat(file.fileno()).st_mode, file.read(64 * 1024)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as fault:
        raise ConfigError(f"{quote(path)}: {fault.strerror} (errno {fault.errno})") from None
    import tomllib

    try:
        data = tomllib.loads(text.decode())
    except (ValueError, RecursionError) as fault:
        raise ConfigError(f"{quote(path)}: not TOML: {_without_text(fault)}") from None
    if isinstance(data.get("omit"), list):
        data["omit"] = ",".join(map(str, data["omit"]))
    known = (*names, "api_key")
    for name, setting in data.items():
        if name not in known:
            raise ConfigError(f"{quote(path)}: unknown {quote(name)}; known are {', '.join(known)}")
        is_number = name in NUMBERS and type(setting) in (int, float)
        if is_number or (name in SWITCHES and isinstance(setting, bool)):
            data[name] = str(setting)
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
    return str(fault).rpartition("(")[2].rstrip(")") if "(" in str(fault) else "cannot be read"
