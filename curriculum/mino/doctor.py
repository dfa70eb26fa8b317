"""`mino doctor`: what would be used and from where, and what is missing. It never shows the key.

It contacts nobody and writes nothing. The exit code is 2 if a chat could not start.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import sys
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from curriculum import __version__
from curriculum.core.visible import quote
from curriculum.mino.config import KEYLESS_HOSTS, ConfigError, Settings, read_settings
from curriculum.mino.exits import OK, USAGE
from curriculum.mino.instructions import load_instructions
from curriculum.mino.limits import Limits, in_dollars
from curriculum.mino.listing import resumable
from curriculum.mino.recovered import open_lines
from curriculum.sessions.errors import SessionError
from curriculum.tools.environment import minimal_environment

NEEDED = ("httpx", "rich")
NONE = "none"


def examine(given: Mapping[str, Any], key: tuple[str, str], hidden: bool) -> int:
    """Print the report; returns the exit code. `hidden`: other processes cannot read this one."""
    problems = []
    print(f"mino {__version__}, Python {platform.python_version()} on {platform.system()}")
    try:
        settings = read_settings(given, os.environ, key)
        for line in setting_lines(settings):
            print(line)
    except ConfigError as fault:
        problems.append(str(fault))
    for line in surroundings(hidden):
        print(line)
    problems += missing_parts()
    for problem in problems:
        print(f"PROBLEM  {problem}")
    print("A chat could not start." if problems else "All is there. Nothing was contacted.")
    return USAGE if problems else OK


# region: settings
def setting_lines(settings: Settings) -> Iterator[str]:
    """Each setting and where it comes from."""
    sources, endpoint = settings.sources, settings.endpoint
    shown = {
        "home": quote(settings.home),
        "model": quote(settings.model),
        "base_url": endpoint.base_url,
        "api_key": "set" if endpoint.api_key else "none",
        "replay": settings.replay,
        "omit": ", ".join(settings.omit) or "nothing",
        "protocol": settings.protocol,
        "allow_reads": "yes" if settings.allow_reads else "no",
        **limit_texts(settings.limits),
    }
    for name, text in shown.items():
        yield f"{name:<8} {text}  (from {sources[name]})"
    address = urlsplit(endpoint.base_url)
    if address.scheme == "http" and address.hostname not in KEYLESS_HOSTS:
        yield "WARNING  http: the key and the conversation go over the network in the clear"
    for line in open_lines(settings.home):
        yield f"WARNING  {line}"
    try:
        yield f"sessions {len(resumable(settings.home))}"
    except SessionError as fault:
        yield f"WARNING  {fault}"


# endregion


def limit_texts(limits: Limits) -> dict[str, str]:
    """Each limit in words."""
    prices = limits.prices
    a_million = "a million tokens"
    return {
        "deadline": f"{limits.deadline_us / 1_000_000:g} s a turn" if limits.deadline_us else NONE,
        "max_tokens": f"{limits.max_tokens} tokens" if limits.max_tokens else NONE,
        "max_cost": in_dollars(limits.max_cost) if limits.max_cost else NONE,
        "prices": f"{in_dollars(prices.input_per_million)} in, "
        f"{in_dollars(prices.output_per_million)} out, {a_million}"
        if prices
        else NONE,
        "context_limit": f"{limits.context_limit} tokens a request"
        if limits.context_limit
        else NONE,
    }


def surroundings(hidden: bool) -> Iterator[str]:
    """The directory, its instructions, the environment of commands, the key's protection."""
    try:
        directory = os.getcwd()
    except FileNotFoundError:
        yield "WARNING  the current directory is gone"
        return
    yield f"commands in {quote(directory)}"
    environment = minimal_environment(os.environ)
    yield "with     " + " ".join(f"{name}={quote(text)}" for name, text in environment.items())
    yield from load_instructions(directory).notices
    if not hidden:
        yield "WARNING  a command could read this process's memory, and the key in it"
    elif os.geteuid() == 0:
        yield "WARNING  you are root: a command could read this process's memory, and the key"
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        yield "NOTE     this is no terminal; a chat needs one"


def missing_parts() -> Iterator[str]:
    """What has to be installed."""
    for name in NEEDED:
        if importlib.util.find_spec(name) is None:
            yield (
                f"{name} is missing: run `make locked` in a checkout, then .venv/bin/python "
                "(or pip install '.[mino]' there)"
            )
    if not shutil.which("/bin/bash"):
        yield "/bin/bash is missing"
