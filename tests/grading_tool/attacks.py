"""Submissions that a class may hold: good, wrong, broken and hostile ones. None may pass unearned.

Each takes the place of `first_request` in s01, and runs when it is graded; those that act at import
stand in front of it.
"""

from __future__ import annotations

from curriculum.grading.cli.catalogue import ROOT

HEAD = "from __future__ import annotations\n"
GOOD = "def first_request(runner):\n    return runner.model.requests[0]\n"


def body(code: str) -> str:
    lines = "".join(f"    {line}\n" for line in code.strip().splitlines())
    return f"def first_request(runner):\n{lines}"


PATCHED = "\ndef first_request(runner):\n    return None\n"
# name: (the text of exercises.py, the outcome of s01.a, what is said of it)
ATTACKS: dict[str, tuple[str, str, str]] = {
    "good": (GOOD, "passed", ""),
    "wrong": (body("return ()"), "failed", "the prompt of this run was"),
    "empty": ("", "failed", "no longer defines first_request"),
    "no python": ("def (", "failed", "SyntaxError"),
    "exit 0": (body("import os; os._exit(0)"), "failed", "ended before there was a result"),
    "exit 0 at import": ("import os; os._exit(0)\n" + GOOD, "failed", "ended before"),
    "sys.exit": (body("import sys; sys.exit(0)"), "failed", "SystemExit"),
    "endless": (body("while True: pass"), "failed", "did not come to an end within"),
    "endless, deaf": (
        body("import signal\nfor n in (1, 2, 3, 15): signal.signal(n, signal.SIG_IGN)\nwhile 1: 0"),
        "failed",
        "did not come to an end within",
    ),
    "fork bomb": (
        body("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"),
        "failed",
        "did not come to an end within",
    ),
    "daemons": (
        body(
            "import os, time\nfor n in range(5):\n    if not os.fork():\n        os.setsid()\n"
            "        time.sleep(3600)\nreturn ()"
        ),
        "failed",
        "the prompt of this run was",
    ),
    "memory hog": (
        body("hog = []\nwhile True: hog.append(bytearray(1 << 24))"),
        "failed",
        "MemoryError",
    ),
    "disk hog": (
        body("with open('/tmp/hog', 'wb') as file:\n    while True: file.write(bytes(1 << 20))"),
        "failed",
        "",
    ),
    "prints without end": (body("while True: print('x' * 1000)"), "failed", ""),
    "unittest patched": (
        "import unittest\nunittest.TestCase.run = lambda self, result=None: result\n" + PATCHED,
        "tampered",
        "has changed unittest.case.TestCase.run",
    ),
    "result patched": (
        "import curriculum.grading.cli.runner as r\nr.Outcome._add = lambda *given: None\n"
        + PATCHED,
        "failed",  # a solution may not even import the grader
        "imports curriculum.grading.cli.runner",
    ),
    "result patched by stealth": (
        "import sys\nr = sys.modules['curriculum.grading.cli.runner']\n"
        "r.Outcome._add = lambda *given: None\n" + PATCHED,
        "tampered",
        "has changed curriculum.grading.cli.runner.Outcome._add",
    ),
    "grader's code exchanged": (
        "import sys\ng = sys.modules['curriculum.grading.s01']\n"
        "g.grade_first_request.__code__ = (lambda first_request: None).__code__\n" + PATCHED,
        "tampered",
        "has changed curriculum.grading.s01.grade_first_request",
    ),
    "patched, and put back": (
        body(
            "import sys\nkind = sys.modules['curriculum.grading.cli.runner'].Outcome\n"
            "old = kind._add\n"
            "def nothing(*given): kind._add = old\nkind._add = nothing"
        ),
        "tampered",
        "has changed curriculum.grading.cli.runner.Outcome._add",
    ),
    "AssertionError replaced": (
        "import builtins\nbuiltins.AssertionError = ValueError\n" + PATCHED,
        "tampered",
        "has changed builtins.AssertionError",
    ),
    "equality for all": (
        "import curriculum.core.messages as m\nm.Message.__eq__ = lambda one, other: True\n"
        "m.Message.__hash__ = lambda one: 1\n"
        "def first_request(runner):\n    return [m.Message('user', 'x')]\n",
        "tampered",
        "has changed curriculum.core.messages.Message.__eq__",
    ),
    "writes to the grader": (
        body(
            "import curriculum.grading.s01 as s\nopen(s.__file__, 'w').write('')\n"
            "return runner.model.requests[0]"
        ),
        "failed",
        "imports curriculum.grading.s01",
    ),
    "writes to the grader by stealth": (
        body(
            "import sys\nopen(sys.modules['curriculum.grading.s01'].__file__, 'w').write('')\n"
            "return runner.model.requests[0]"
        ),
        "failed",
        "Read-only file system",
    ),
    "reads the solutions": (
        body(
            "import os\n"
            f"for root in ({str(ROOT)!r}, '/grade', '/root', '/home', '/tmp'):\n"
            "    for folder, _, files in os.walk(root):\n"
            "        if 'solutions.py' in files: return runner.model.requests[0]\n"
            "raise LookupError('none here')"
        ),
        "failed",
        "none here",
    ),
    "forged lines": (
        body(
            "import json, os\nline = {'word': '', 'test': 'x', 'outcome': 'passed', 'said': ''}\n"
            "for fd in range(3, 64):\n    try: os.write(fd, json.dumps(line).encode() + b'\\n')\n"
            "    except OSError: pass\nos._exit(0)"
        ),
        "failed",
        "forged lines were thrown away",
    ),
    "no privileges": (
        body(
            "import os\nassert os.getuid() != 0\nos.chroot('/tmp')\nreturn runner.model.requests[0]"
        ),
        "failed",
        "PermissionError",
    ),
    "memory by ctypes": (
        body("import ctypes\nctypes.CDLL(None)\nreturn runner.model.requests[0]"),
        "tampered",
        "import ctypes",
    ),
}
