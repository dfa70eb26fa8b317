"""The bounded Bash tool: one command, one fresh shell, one honest result.

What is shown for approval is what runs: the command byte for byte, in the directory and with the
environment captured when the tool was made. Bounded means time, output and waiting; it does not
mean safe. The command has the account's permissions, may use any memory and CPU it can get, and may
have a service (cron, docker) run what outlives it; where the system is not Linux, so does a process
that leaves the session. Nothing of this is a sandbox.
"""

from __future__ import annotations

import os
import time

from curriculum.core.errors import PreparationError
from curriculum.core.tools import Prepared, ToolDefinition, ToolResult
from curriculum.core.values import TYPE_CHECKING
from curriculum.tools.arguments import read_command
from curriculum.tools.bounds import Launch
from curriculum.tools.capture import Capture
from curriculum.tools.environment import check_environment, minimal_environment
from curriculum.tools.process import run_bounded
from curriculum.tools.report import report, shown_path

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from curriculum.core.tools import RunningCall

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
        if not 0 < timeout_seconds < float("inf") or output_limit < 1:
            raise ValueError("timeout_seconds and output_limit must be above 0 and finite")
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
            f"starts afresh in {shown_path(self._directory)}, without input or terminal; it is "
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
                f"the directory {shown_path(self._directory)} is gone; nothing ran, and no "
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
            "directory": shown_path(self._directory),
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
            where = f" ({shown_path(fault.filename)})" if fault.filename else ""
            note = f"bash could not be started: {fault.strerror}{where}; nothing ran"
            return ToolResult("failed", notes=(note,))
        return report(action, capture, ending)

    # endregion
