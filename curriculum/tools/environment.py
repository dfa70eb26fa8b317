"""The environment of a command: an allow-list, so that no key and no startup hook slips through.

`--noprofile --norc` stops neither BASH_ENV nor exported functions nor SHELLOPTS; only not passing
them does. What is not named here is not passed: no tokens, no proxies, no agent sockets. bash
itself adds PWD, SHLVL and _ for its children. A child of the same user can still read the parent's
own environment through /proc; an allow-list does not stop that.
"""

from __future__ import annotations

from curriculum.core.values import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# Who and where the user is, and the language and time zone of what is printed.
INHERITED = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "TMPDIR", "TZ", "USER")
# There is no terminal: nothing may page, ask for a password or draw.
FIXED = {
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "PAGER": "cat",
    "TERM": "dumb",
}
DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"
_STARTUP = ("BASH_ENV", "BASHOPTS", "ENV", "SHELLOPTS")


def minimal_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The allow-listed part of `environment`, by name, with the fixed settings.

    A value that is not UTF-8 is left out: what is shown must be exactly what is passed.
    """
    kept = {name: environment[name] for name in INHERITED if name in environment}
    kept = {name: text for name, text in kept.items() if _is_utf8(text)}
    return dict(sorted({"PATH": DEFAULT_PATH, **kept, **FIXED}.items()))


def check_environment(environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """A frozen copy. Raises ValueError for what no process can be given or bash would run."""
    for name, text in environment.items():
        if not name or "=" in name or "\0" in name + text or not _is_utf8(name + text):
            raise ValueError(f"the environment cannot hold {name!r}")
        if name in _STARTUP or name.startswith("BASH_FUNC_"):
            raise ValueError(f"{name} changes how bash starts and is never passed")
    return tuple(environment.items())


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
