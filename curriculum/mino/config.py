"""Where each setting comes from: a flag, MINO_*, OPENAI_*, ~/.mino/config.toml, a default.

The first one that is given decides, also if it is wrong: a wrong setting is told, never skipped.
Everything is checked before a session exists. The key has no flag, as others could read it in the
list of processes; `Endpoint` holds it, and neither shows nor writes it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from curriculum.core.values import value
from curriculum.core.visible import quote
from curriculum.providers.endpoint import Endpoint, check_url
from curriculum.sessions.replay import RULES

if TYPE_CHECKING:
    from curriculum.sessions.replay import Rule

DEFAULT_HOME = "~/.mino"
DEFAULTS = {
    "base_url": "https://api.openai.com/v1",
    "model": "gpt-5",
    "replay": "with-evidence",
    "omit": "",
}
VARIABLES = {
    "base_url": ("MINO_BASE_URL", "OPENAI_BASE_URL"),
    "model": ("MINO_MODEL", "OPENAI_MODEL"),
    "replay": ("MINO_REPLAY",),
    "omit": ("MINO_OMIT",),
}
OPTIONAL_FIELDS = ("include", "store", "parallel_tool_calls", "strict")
LONGEST_MODEL = 256  # characters; an actor's id in Trace 0.1
KEYLESS_HOSTS = ("127.0.0.1", "localhost", "::1")


class ConfigError(Exception):
    """A setting cannot be used; one line that says which, and what to do."""


@value
class Settings:
    """What mino would use. `sources` says where each setting comes from."""

    home: str
    endpoint: Endpoint
    model: str
    replay: Rule
    omit: tuple[str, ...]
    demo: bool
    sources: Mapping[str, str]


# region: settings
def read_settings(
    flags: Mapping[str, Any], environment: Mapping[str, str], key: tuple[str, str]
) -> Settings:
    """All settings, checked. `key` is what `take_key` found. Raises ConfigError."""
    home, home_source = find_home(flags, environment)
    file = read_file(os.path.join(home, "config.toml"))
    found: dict[str, str] = {}
    sources = {"home": home_source}
    for name in DEFAULTS:
        found[name], sources[name] = _find(name, flags, environment, file)
    demo = bool(flags.get("demo"))
    if demo:
        found |= {"model": "demo", "base_url": "http://127.0.0.1/v1"}
        sources |= {"model": "--demo", "base_url": "--demo (a scripted endpoint)"}
        key = ("demo", "--demo")
    elif not key[1] and "api_key" in file:
        key = (file["api_key"], "config.toml")
    endpoint = _endpoint(found["base_url"], key, sources["base_url"])
    sources["api_key"] = key[1] or "none"
    model = _check_model(found["model"], sources["model"])
    _one_of(found["replay"], RULES, f"{sources['replay']}: replay")
    replay = next(rule for rule in RULES if rule == found["replay"])
    omit = tuple(name.strip() for name in found["omit"].split(",") if name.strip())
    for name in omit:
        _one_of(name, OPTIONAL_FIELDS, f"{sources['omit']}: omit")
    return Settings(home, endpoint, model, replay, omit, demo, sources)


# endregion


def find_home(flags: Mapping[str, Any], environment: Mapping[str, str]) -> tuple[str, str]:
    """(absolute path of mino's folder, where that comes from)."""
    candidates = (
        (flags.get("home"), "--home"),
        (environment.get("MINO_HOME"), "MINO_HOME"),
        (DEFAULT_HOME, "default"),
    )
    given, source = next(pair for pair in candidates if pair[0])
    if "\0" in str(given):
        raise ConfigError(f"{source}: a path holds no NUL character")
    return os.path.abspath(os.path.expanduser(str(given))), source


def _find(
    name: str, flags: Mapping[str, Any], environment: Mapping[str, str], file: Mapping[str, str]
) -> tuple[str, str]:
    if flags.get(name) is not None:
        return str(flags[name]), f"--{name.replace('_', '-')}"
    for variable in VARIABLES[name]:
        if environment.get(variable):
            return environment[variable], variable
    if name in file:
        return file[name], "config.toml"
    return DEFAULTS[name], "default"


def _endpoint(base_url: str, key: tuple[str, str], source: str) -> Endpoint:
    try:
        check_url(base_url)
    except ValueError as fault:
        raise ConfigError(f"{source}: {fault}") from None
    local = urlsplit(base_url.strip()).hostname in KEYLESS_HOSTS
    if not key[1] and not local:
        raise ConfigError("no API key: set OPENAI_API_KEY, or try `mino --demo`, which needs none")
    try:
        return Endpoint(base_url, key[0] if key[1] else None)
    except ValueError as fault:
        raise ConfigError(f"{key[1]}: {fault}") from None


def _check_model(name: str, source: str) -> str:
    if not name.strip() or not name.isprintable() or len(name) > LONGEST_MODEL:
        raise ConfigError(f"{source}: {quote(name[:40])} is no name of a model")
    return name.strip()


def _one_of(word: str, known: tuple[str, ...], what: str) -> None:
    if word not in known:
        raise ConfigError(f"{what} is {quote(word[:40])}; it can be {', '.join(known)}")


# region: file
def read_file(path: str) -> dict[str, str]:
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
    known = (*DEFAULTS, "api_key")
    for name, setting in data.items():
        if name not in known:
            raise ConfigError(f"{quote(path)}: unknown {quote(name)}; known are {', '.join(known)}")
        if not isinstance(setting, str):
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
