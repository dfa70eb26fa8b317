"""Why a session cannot be used. Each message is one line: what, where, and what to do about it."""

from __future__ import annotations

import os

from curriculum.sessions.text import shown


class SessionError(Exception):
    """A session could not be made, opened or read."""


class SessionIdError(SessionError):
    """The id is not one a session can have. No file was touched."""


class SessionBusyError(SessionError):
    """Another process (or this one) holds the session. Nothing was written."""


class SessionNotFoundError(SessionError):
    """There is no such session, or more than one goes by that prefix."""


class SessionExistsError(SessionError):
    """A session of that id is there already."""


class SessionDamagedError(SessionError):
    """A record cannot be trusted, so none of the file is used. `line` counts from 1."""

    def __init__(self, path: str, line: int, why: str) -> None:
        super().__init__(f"{shown(path)}: line {line}: {why}; the session was left as it is")
        self.path, self.line, self.why = path, line, why


class RecordError(Exception):
    """This is not a record of this version, or not one that can stand here."""


def describe_fault(path: str, fault: OSError) -> str:
    """`<path>: No space left on device (errno 28)`."""
    number = fault.errno or 0
    words = os.strerror(number) if number else (fault.strerror or str(fault))
    return f"{shown(path)}: {words} (errno {number})"
