"""One bounded run: start the shell, watch it, clean up, whatever interrupts on the way.

Ctrl+C during a run becomes a cancellation, so that it loses neither the process nor the result.
"""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager

from curriculum.core.values import TYPE_CHECKING
from curriculum.tools.shell import Shell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from curriculum.core.seams import CancelToken
    from curriculum.tools.bounds import Ending, Launch
    from curriculum.tools.capture import Capture


# region: run
def run_bounded(
    launch: Launch, capture: Capture, cancel: CancelToken, now: Callable[[], float]
) -> Ending:
    """Run to the end, or to the first bound. Raises OSError if bash could not be started."""
    with _interrupts_cancel(cancel):
        shell = Shell(launch, capture, now)
        try:
            cause = shell.watch(launch.timeout_seconds, cancel)
        except KeyboardInterrupt:
            cancel.cancel("user")
            cause = "cancelled"
        except BaseException:
            shell.finish("cancelled")
            raise
        while True:
            try:
                return shell.finish(cause)
            except KeyboardInterrupt:  # the cleanup goes on; it is bounded
                cancel.cancel("user")


# endregion


@contextmanager
def _interrupts_cancel(cancel: CancelToken) -> Iterator[None]:
    """Let Ctrl+C raise the cancel token, not KeyboardInterrupt: nothing is lost halfway.

    Only Python's own handler is replaced, and only in the main thread, where signals are handled.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, lambda *_: cancel.cancel("user"))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
