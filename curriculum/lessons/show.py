"""How every demo shows its run: what it has to tell, the final text, the trace by the line."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from curriculum.core.loop import RunResult


def show(result: RunResult, before: Sequence[str] = ()) -> None:
    """Print the run, and before it the lines that the demo has to tell.

    A reader that closes the pipe early (`| head`) ends the program quietly. Where nothing can be
    written (no room, closed) it ends with one line on stderr and exit code 1.
    """
    out = sys.stdout
    if not out:
        sys.exit("standard output is closed")
    if hasattr(out, "reconfigure"):
        out.reconfigure(encoding="utf-8", newline="\n")  # a trace is UTF-8 with LF in any locale
    try:
        out.writelines(f"{line}\n" for line in (*before, result.final_text))
        out.writelines(event.to_line() for event in result.events)
        out.flush()
    except OSError as fault:
        # Python flushes stdout once more on its way out; give it somewhere that takes the bytes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
        if not isinstance(fault, BrokenPipeError):
            sys.exit(f"standard output cannot be written: {fault.strerror}")
