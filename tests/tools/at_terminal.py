"""A harness at a real terminal, run by test_terminal: one Bash call, then one line from the user.

It writes to the terminal only between the lines START and END what the command itself could sneak
there, and reports on standard error, which is a pipe: the result, who holds the foreground, whether
the terminal's settings are as before, and the next line typed.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
import termios

from tests.tools.running import bash_in, execute


def main() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    settings = termios.tcgetattr(0)
    os.write(1, b"START\n")
    result = execute(bash_in(sys.argv[1]), sys.argv[2])
    os.write(1, b"END\n")
    report = {
        "result": result.payload(),
        "foreground": os.tcgetpgrp(0) == os.getpgrp(),
        "settings_kept": termios.tcgetattr(0) == settings,
        "line": sys.stdin.readline(),
    }
    print(json.dumps(report), file=sys.stderr)


if __name__ == "__main__":
    main()
