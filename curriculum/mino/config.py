"""Where each setting comes from: a flag, MINO_*, OPENAI_*, ~/.mino/config.toml, a default.

The first one that is given decides, also if it is wrong: a wrong setting is told, never skipped.
Everything is checked before a session exists. The key has no flag, as others could read it in the
list of processes; `Endpoint` holds it, and neither shows nor writes it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from curriculum.core.values import value
from curriculum.core.visible import quote
from curriculum.mino.config_error import ConfigError as ConfigError
from curriculum.mino.config_file import read_file
from curriculum.mino.limits import Limits, read_limits
from curriculum.providers.endpoint import Endpoint, check_url, holds_key
from curriculum.sessions.replay import RULES

if TYPE_CHECKING:
    from curriculum.sessions.replay import Rule

DEFAULT_HOME = "~/.mino"
DEFAULTS = {
    "base_url": "https://api.openai.com/v1",
    "model": "gpt-5",
    "replay": "with-evidence",
    "omit": "",
    "protocol": "responses",
    "allow_reads": "no",
    "deadline": "",
    "max_tokens": "",
    "max_cost": "",
    "prices": "",
    "context_limit": "",
}
VARIABLES = {
    "base_url": ("MINO_BASE_URL", "OPENAI_BASE_URL"),
    "model": ("MINO_MODEL", "OPENAI_MODEL"),
    "replay": ("MINO_REPLAY",),
    "omit": ("MINO_OMIT",),
    "protocol": ("MINO_PROTOCOL",),
    "allow_reads": ("MINO_ALLOW_READS",),
    "deadline": ("MINO_DEADLINE",),
    "max_tokens": ("MINO_MAX_TOKENS",),
    "max_cost": ("MINO_MAX_COST",),
    "prices": ("MINO_PRICES",),
    "context_limit": ("MINO_CONTEXT_LIMIT",),
}
OPTIONAL_FIELDS = {  # by protocol: what a request can do without
    "responses": ("include", "store", "parallel_tool_calls", "strict", "max_output_tokens"),
    "chat": ("stream_options", "parallel_tool_calls", "max_completion_tokens"),
    "anthropic": (),
}
PROTOCOLS = tuple(OPTIONAL_FIELDS)
ANTHROPIC_URL = "https://api.anthropic.com/v1"
YES, NO = ("true", "yes", "1"), ("false", "no", "0")
LONGEST_MODEL = 256  # characters; an actor's id in Trace 0.1
KEYLESS_HOSTS = ("127.0.0.1", "localhost", "::1")


@value
class Settings:
    """What mino would use. `sources` says where each setting comes from."""

    home: str
    endpoint: Endpoint
    model: str
    replay: Rule
    omit: tuple[str, ...]
    demo: bool
    protocol: str
    allow_reads: bool
    limits: Limits
    sources: Mapping[str, str]


# region: settings
def read_settings(
    flags: Mapping[str, Any], environment: Mapping[str, str], key: tuple[str, str]
) -> Settings:
    """All settings, checked. `key` is what `take_key` found. Raises ConfigError."""
    home, home_source = find_home(flags, environment)
    file = read_file(os.path.join(home, "config.toml"), tuple(DEFAULTS))
    found: dict[str, str] = {}
    sources = {"home": home_source}
    found["protocol"], sources["protocol"] = _find("protocol", flags, environment, file)
    _one_of(found["protocol"], PROTOCOLS, f"{sources['protocol']}: protocol")
    defaults = DEFAULTS
    if found["protocol"] == "anthropic":  # nothing that is set for OpenAI goes there
        environment = {n: v for n, v in environment.items() if not n.startswith("OPENAI_")}
        key = ("", "") if key[1].startswith("OPENAI_") else key
        defaults = {**DEFAULTS, "base_url": ANTHROPIC_URL, "model": ""}
    for name in defaults:
        found[name], sources[name] = _find(name, flags, environment, file, defaults)
    omit = tuple(name.strip() for name in found["omit"].split(",") if name.strip())
    for name in omit:
        _one_of(name, OPTIONAL_FIELDS[found["protocol"]], f"{sources['omit']}: omit")
    _one_of(found["replay"], RULES, f"{sources['replay']}: replay")
    replay = next(rule for rule in RULES if rule == found["replay"])
    allow_reads = found["allow_reads"].lower()
    _one_of(allow_reads, (*YES, *NO), f"{sources['allow_reads']}: allow_reads")
    demo = bool(flags.get("demo"))
    if demo:
        found |= {"model": "demo", "base_url": "http://127.0.0.1/v1", "protocol": "responses"}
        sources |= {"model": "--demo", "protocol": "--demo"}
        sources["base_url"] = "--demo (a scripted endpoint)"
        key = ("demo", "--demo")
    elif not key[1] and "api_key" in file:
        key = (file["api_key"], "config.toml")
    endpoint = _endpoint(found["base_url"], key, sources["base_url"], found["protocol"])
    sources["api_key"] = key[1] or "none"
    if not found["model"]:
        raise ConfigError("--protocol anthropic: name the model with --model or MINO_MODEL")
    if holds_key(found["model"], endpoint.api_key):
        raise ConfigError(f"{sources['model']}: that is the API key; name a model")
    return Settings(
        home=home,
        endpoint=endpoint,
        model=(model := _check_model(found["model"], sources["model"])),
        replay=replay,
        omit=omit,
        demo=demo,
        protocol=found["protocol"],
        allow_reads=allow_reads in YES,
        limits=read_limits(found, sources, home, model),
        sources=sources,
    )


# endregion


def find_home(flags: Mapping[str, Any], environment: Mapping[str, str]) -> tuple[str, str]:
    """(absolute path of mino's folder, where that comes from). Raises ConfigError."""
    if flags.get("home") == "":
        raise ConfigError("--home: the path is empty; name a folder")
    candidates = (
        (flags.get("home"), "--home"),
        (environment.get("MINO_HOME"), "MINO_HOME"),
        (DEFAULT_HOME, "default"),
    )
    given, source = next(pair for pair in candidates if pair[0])
    if "\0" in str(given):
        raise ConfigError(f"{source}: a path holds no NUL character")
    path = os.path.expanduser(str(given))
    if path.startswith("~") or (str(given).startswith("~/") and environment.get("HOME") == ""):
        raise ConfigError(
            f"{quote(str(given))}: your home folder is not known; set HOME, or name mino's folder "
            "with --home"
        )
    return os.path.abspath(path), source


def _find(
    name: str,
    flags: Mapping[str, Any],
    environment: Mapping[str, str],
    file: Mapping[str, str],
    defaults: Mapping[str, str] = DEFAULTS,
) -> tuple[str, str]:
    if flags.get(name) is not None:
        return str(flags[name]), f"--{name.replace('_', '-')}"
    for variable in VARIABLES[name]:
        if environment.get(variable):
            return environment[variable], variable
    if name in file:
        return file[name], "config.toml"
    return defaults[name], "default"


def _endpoint(base_url: str, key: tuple[str, str], source: str, protocol: str) -> Endpoint:
    try:
        check_url(base_url)
    except ValueError as fault:
        raise ConfigError(f"{source}: {fault}") from None
    local = urlsplit(base_url.strip()).hostname in KEYLESS_HOSTS
    if not key[1] and not local:
        name = "MINO_API_KEY" if protocol == "anthropic" else "OPENAI_API_KEY"
        raise ConfigError(f"no API key: set {name}, or try `mino --demo`, which needs none")
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
        can = f"can be {', '.join(known)}" if known else "must be empty"
        raise ConfigError(f"{what} is {quote(word[:40])}; it {can}")
