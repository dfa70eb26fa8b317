"""How every demo shows its run: the final text, then the trace, one event a line."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from curriculum.core.loop import RunResult


def show(result: RunResult) -> None:
    """Print the run. A reader that closes the pipe early (`| head`) ends the program quietly."""
    out = sys.stdout
    if hasattr(out, "reconfigure"):
        out.reconfigure(encoding="utf-8", newline="\n")  # a trace is UTF-8 with LF in any locale
    try:
        out.write(result.final_text + "\n")
        out.writelines(event.to_line() for event in result.events)
        out.flush()
    except BrokenPipeError:
        # Python flushes stdout once more on its way out; give it somewhere that takes the bytes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
