"""Runs inside the box: grades exercises by the suite, and notices when the suite was tampered with.

What a passed test means is checked from two sides. After each test, whatever the graders, the core
and unittest consist of must still be what it was before the submission was loaded. And the same
test is run once more with an object that can do nothing in place of the solution: if that passes,
the grader no longer grades. Each line to the parent carries a word that the parent sent through a
pipe before any submitted code was loaded; an exit without that line is no pass. Hidden tests come
through the same pipe, and are in no file.

Code that searches our memory may find that word, so an audit hook tells the parent at once of who
looks for frames or objects. That is a fence and no wall: what is suspicious in the source is told
to the instructor, too.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import json
import os
import resource
import sys
import unittest
from collections.abc import Sequence
from types import FunctionType, ModuleType
from typing import Any

from curriculum.grading.cli.runner import Outcome
from curriculum.grading.submission.watch import watch

MEMORY, FILE, FILES, PROCESSES, CPU_SECONDS = 1 << 30, 16 << 20, 256, 64, 300
LIMITS = {
    resource.RLIMIT_AS: MEMORY,
    resource.RLIMIT_FSIZE: FILE,
    resource.RLIMIT_NOFILE: FILES,
    resource.RLIMIT_NPROC: PROCESSES,
    resource.RLIMIT_CPU: CPU_SECONDS,
    resource.RLIMIT_CORE: 0,
}
SEALED = (
    "curriculum.",
    "unittest",
    "hidden_tests",
    "builtins",
    "random",
    "json",
    "re",
    "ast",
    "os",
    "posix",
)
HIDDEN = "hidden_tests"
# What Python and unittest themselves change while a test is run.
PASSING = (
    *("_", "__warningregistry__", "__annotations__", "__abstractmethods__"),
    *("_classSetupFailed", "_class_cleanups"),
)
Parts = tuple[object, ...]


class Seal:
    """What the modules that judge consisted of at one moment."""

    def __init__(self) -> None:
        modules = [m for name, m in sys.modules.items() if name.startswith(SEALED)]
        self._kept: list[tuple[str, object, dict[str, tuple[object, Parts]]]] = []
        for module in modules:
            self._keep(module.__name__, module)
            for name, thing in list(vars(module).items()):
                if isinstance(thing, type) and thing.__module__ == module.__name__:
                    self._keep(f"{module.__name__}.{name}", thing)

    def _keep(self, name: str, owner: object) -> None:
        parts = {key: (part, _inner(part)) for key, part in list(vars(owner).items())}
        self._kept.append((name, owner, parts))

    def broken(self) -> str:
        """The first thing that is no longer what it was, or nothing."""
        for name, owner, parts in self._kept:
            now = vars(owner)
            for key, (part, inner) in parts.items():
                if key in PASSING:
                    continue
                if now.get(key, self) is not part or _differ(_inner(part), inner):
                    return f"{name}.{key}"
        return ""


def _inner(part: object) -> Parts:
    """What can be exchanged in a function without exchanging the function."""
    if isinstance(part, (staticmethod, classmethod)):
        part = part.__func__
    if isinstance(part, property):
        return (part.fget, *_inner(part.fget))
    if isinstance(part, FunctionType):
        return (part.__code__, part.__defaults__, part.__kwdefaults__)
    return ()


def _differ(now: Parts, before: Parts) -> bool:
    return len(now) != len(before) or any(
        one is not other for one, other in zip(now, before, strict=True)
    )


class Hopeless:
    """Can be called, and does nothing: no exercise is solved by it."""

    def __call__(self, *args: object, **named: object) -> None:
        return None


def run_one(name: str) -> Outcome:
    """Run the tests of that name."""
    result = Outcome()
    try:
        unittest.defaultTestLoader.loadTestsFromName(name).run(result)
    except SystemExit as fault:
        result.note("failed", f"it called sys.exit({fault.code!r})")
    return result


def judge(name: str, seals: Sequence[Seal], module: Any) -> tuple[str, str]:
    """(outcome, what to tell) of one test."""
    result = run_one(name)
    broken = next(filter(None, (seal.broken() for seal in seals)), "")
    if broken:
        return "tampered", f"the code under test has changed {broken}"
    if result.outcome != "passed" or not hasattr(module, "load"):
        return result.outcome, result.said
    real = module.load
    module.load = lambda lesson, name: Hopeless()
    try:
        hopeless = run_one(name)
    finally:
        module.load = real
    if hopeless.outcome == "passed":
        return "tampered", "after the code under test had run, the grader let everything pass"
    return "passed", ""


class Hidden(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the hidden tests from their sources, each once; then the source is gone."""

    def __init__(self, sources: dict[str, str]) -> None:
        self._sources = sources

    def find_spec(
        self, name: str, path: object = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        package, _, module = name.partition(".")
        if package != HIDDEN or (module and module not in self._sources):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=not module)

    def exec_module(self, module: ModuleType) -> None:
        _, _, name = module.__name__.partition(".")
        source = self._sources.pop(name, "")
        exec(compile(source, f"<{name or HIDDEN}>", "exec"), vars(module))


def main() -> None:
    """`FD TEST...`; on standard input the word, and after it the hidden tests as JSON."""
    word = sys.stdin.readline().strip()
    hidden = Hidden(json.loads(sys.stdin.read()))
    sys.meta_path.insert(0, hidden)
    fd, *names = sys.argv[1:]
    for limit, amount in LIMITS.items():
        _, hard = resource.getrlimit(limit)
        most = amount if hard == resource.RLIM_INFINITY else min(amount, hard)
        resource.setrlimit(limit, (most, most))
    modules = {}
    seals = [Seal()]  # a hidden test that imports the exercises loads what was handed in
    for name in names:
        module = ".".join(name.split(".")[: 3 if name.startswith("curriculum.") else 2])
        try:
            modules[name] = importlib.import_module(module)
        except Exception as fault:
            said = f"{name} cannot be imported: {type(fault).__name__}: {fault}"
            _tell(int(fd), {"word": word, "test": name, "outcome": "failed", "said": said[:20_000]})
            os._exit(1)
    sys.meta_path.remove(hidden)
    del hidden
    seals.append(Seal())

    def looked(what: str) -> None:
        said = f"the code under test has looked for what is not its own: {what}"
        _tell(int(fd), {"word": word, "test": "", "outcome": "tampered", "said": said})

    watch(looked)
    for name in names:
        _tell(int(fd), {"word": word, "test": name, "outcome": "began"})
        outcome, said = judge(name, seals, modules[name])
        _tell(int(fd), {"word": word, "test": name, "outcome": outcome, "said": said[:20_000]})
    os._exit(0)  # threads that were left behind cannot keep us


def _tell(fd: int, line: dict[str, str], write: Any = os.write, dumps: Any = json.dumps) -> None:
    data = dumps(line).encode() + b"\n"  # with functions that nobody has put in between
    while data:
        data = data[write(fd, data) :]
