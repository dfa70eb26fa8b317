"""The bounded Bash tool: one command, one fresh shell, one honest result.

What is shown for approval is what runs: the command byte for byte, in the directory and with the
environment captured when the tool was made. Bounded means time, output and waiting; it does not
mean safe. The command has the account's permissions, may use any memory and CPU it can get, and a
process that leaves the session can outlive it. Nothing of this is a sandbox.
"""

from __future__ import annotations

import os
import signal
import time

from curriculum.core.errors import PreparationError
from curriculum.core.tools import Prepared, ToolDefinition, ToolResult
from curriculum.core.values import TYPE_CHECKING
from curriculum.tools.arguments import read_command
from curriculum.tools.capture import Capture
from curriculum.tools.environment import check_environment, minimal_environment
from curriculum.tools.process import Ending, Launch, run_bounded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from curriculum.core.tools import ResultStatus, RunningCall

NOTICE = "runs with your account's permissions; there is no sandbox"


class Bash:
    """Runs commands with /bin/bash, each in a shell of its own.

    `directory` is absolute and the environment complete: nothing is inherited. `timeout_seconds`
    bounds one command, `output_limit` the bytes kept of stdout and stderr together. With `live`,
    output is also passed on as `tool.output` while the command runs. Raises ValueError for a
    directory or an environment that no process could be given.
    """

    def __init__(
        self,
        directory: str,
        environment: Mapping[str, str],
        timeout_seconds: float = 30,
        output_limit: int = 64 * 1024,
        now: Callable[[], float] = time.monotonic,
        live: bool = False,
    ) -> None:
        if not os.path.isabs(directory) or "\0" in directory:
            raise ValueError(f"the directory must be an absolute path, not {directory!r}")
        if timeout_seconds <= 0 or output_limit < 1:
            raise ValueError("timeout_seconds and output_limit must be above 0")
        os.fsencode(directory)
        self._directory = directory
        self._environment = check_environment(environment)
        self._timeout_seconds = timeout_seconds
        self._output_limit = output_limit
        self._now = now
        self._live = live

    @classmethod
    def here(cls) -> Bash:
        """Bash in the current directory, with the allow-listed part of this environment.

        Raises FileNotFoundError if the current directory is gone.
        """
        return cls(os.getcwd(), minimal_environment(os.environ))

    # region: definition
    @property
    def definition(self) -> ToolDefinition:
        description = (
            "Run one command with /bin/bash and get its output and exit code. Every command "
            f"starts afresh in {_shown_path(self._directory)}, without input or terminal; it is "
            f"stopped after {self._timeout_seconds:g} s or {self._output_limit} bytes of output, "
            "and what it leaves in the background is stopped when it ends."
        )
        parameters = {
            "type": "object",
            "properties": {
                "command": {"type": "string", "description": "The command, at most 16 KiB."}
            },
            "required": ["command"],
            "additionalProperties": False,
        }
        return ToolDefinition("bash", description, parameters)

    # endregion

    # region: prepare
    def prepare(self, arguments: str) -> Prepared:
        """Check the arguments and lay down what would run. Nothing is touched.

        Raises InvalidArgumentsError for arguments that break the definition or that bash could not
        be given, PreparationError if the directory is gone.
        """
        command = read_command(arguments)
        if not os.path.isdir(self._directory):
            raise PreparationError(
                f"the directory {_shown_path(self._directory)} is gone; nothing ran, and no "
                "command can run until it is back"
            )
        action = Launch(
            command,
            self._directory,
            self._environment,
            self._timeout_seconds,
            self._output_limit,
        )
        display = {
            "command": command,
            "directory": _shown_path(self._directory),
            "environment": dict(self._environment),
            "timeout_seconds": self._timeout_seconds,
            "output_limit_bytes": self._output_limit,
            "notice": NOTICE,
        }
        return Prepared(display, action)

    # endregion

    # region: execute
    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        """Run what was prepared, to its end or to its first bound."""
        action = prepared.action
        if not isinstance(action, Launch):
            raise TypeError(f"bash cannot run {action!r}")
        capture = Capture(action.output_limit_bytes, call.output if self._live else None)
        try:
            ending = run_bounded(action, capture, call.cancel, self._now)
        except OSError as fault:
            where = f" ({_shown_path(fault.filename)})" if fault.filename else ""
            note = f"bash could not be started: {fault.strerror}{where}; nothing ran"
            return ToolResult("failed", notes=(note,))
        return _result(action, capture, ending)

    # endregion


def _result(launch: Launch, capture: Capture, ending: Ending) -> ToolResult:
    code = ending.code
    status: ResultStatus = "completed"
    reason: str | None = None
    if ending.cause != "exit":
        status, reason = "failed", ending.cause
    elif code is None:
        status = "unknown"
    elif code:
        status, reason = "failed", ("signal" if code < 0 else None)
    notes = (*_how_it_ended(launch, ending), *_what_is_left(ending), *_what_was_printed(capture))
    return ToolResult(status, _labelled(capture), code, capture.overflowed, reason, notes)


def _how_it_ended(launch: Launch, ending: Ending) -> Iterator[str]:
    if ending.cause == "timeout":
        yield f"timed out after {launch.timeout_seconds:g} s; the command was killed"
    elif ending.cause == "output-limit":
        kept = f"the first {launch.output_limit_bytes} bytes"
        yield f"output limit: only {kept} were kept, and what still ran was killed"
    elif ending.cause == "cancelled":
        yield "cancelled; the command was killed"
    elif ending.code is None:
        yield "the exit status was lost, as the harness runs with SIGCHLD ignored"
    elif ending.code < 0:
        yield f"killed by {_signal_name(-ending.code)}"


def _what_is_left(ending: Ending) -> Iterator[str]:
    if ending.held:
        yield "a leftover process kept the output open after the shell had exited"
    if ending.stopped:
        yield "processes left running in the background were killed"
    if ending.escaped:
        yield "still running: a process that left the shell's session or cannot be killed"


def _what_was_printed(capture: Capture) -> Iterator[str]:
    if capture.sizes["stderr"]:
        yield ", ".join(f"{stream}: {size} bytes" for stream, size in capture.sizes.items())
    elif not capture.sizes["stdout"]:
        yield "there was no output"


def _labelled(capture: Capture) -> str:
    """stdout as it is; with anything on stderr, both under a line that names them.

    The text cannot forge the sizes in the notes, which say where one ends and the other begins.
    """
    stdout, stderr = capture.text("stdout"), capture.text("stderr")
    if not stderr:
        return stdout
    if not stdout:
        return f"[stderr]\n{stderr}"
    end = "" if stdout.endswith("\n") else "\n"
    return f"[stdout]\n{stdout}{end}[stderr]\n{stderr}"


def _signal_name(number: int) -> str:
    try:
        return f"{signal.Signals(number).name} (signal {number})"
    except ValueError:
        return f"signal {number}"


def _shown_path(path: str) -> str:
    r"""A path that can be written as UTF-8: bytes that are no UTF-8 are shown as `\xff`."""
    return os.fsencode(path).decode(errors="backslashreplace")
