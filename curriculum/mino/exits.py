"""The exit codes of mino:

0        the turn (or the chat) has ended well
1        the turn failed or was cut short: model, protocol, limits
         (also of time, tokens, money)
2        wrong usage or settings, no key, no terminal; nothing was begun
3        the session cannot be found, opened, kept or gone on with
4        the trace that was asked for could not be written
5        what was asked for could not be written to standard output: it is
         closed, or full
128 + n  ended by signal n (130: Ctrl+C)
"""

from __future__ import annotations

OK, FAILED, USAGE, NO_SESSION, NO_TRACE, NO_OUTPUT = 0, 1, 2, 3, 4, 5
SIGNALLED = 128
INTERRUPTED = SIGNALLED + 2
CLOSED_PIPE = SIGNALLED + 13
