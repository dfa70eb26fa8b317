"""Runs inside the box: grades exercises by the suite, and notices when the suite was tampered with.

What a passed test means is checked from two sides. After each test, whatever the graders, the core
and unittest consist of must still be what it was before the submission was loaded. And the same
test is run once more with an object that can do nothing in place of the solution: if that passes,
the grader no longer grades. Each line to the parent is signed with a word that the parent sent
through a pipe before any submitted code was loaded; an exit without that line is no pass. Hidden
tests come through the same pipe, are in no file, and cannot be imported once they are loaded.

Code that searches our memory may find what signs, so an audit hook tells the parent at once of who
looks for frames or objects. That is a fence and no wall: what is suspicious in the source is told
to the instructor, too.
"""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import json
import os
import resource
import sys
import unittest
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any

import curriculum
from curriculum.grading.cli.runner import Outcome
from curriculum.grading.submission.lines import Teller
from curriculum.grading.submission.seal import Seal, tell_changes
from curriculum.grading.submission.watch import hide_frames_of_signals, watch

MEMORY, FILE, FILES, PROCESSES, CPU_SECONDS = 1 << 30, 16 << 20, 256, 64, 300
LIMITS = {
    resource.RLIMIT_AS: MEMORY,
    resource.RLIMIT_FSIZE: FILE,
    resource.RLIMIT_NOFILE: FILES,
    resource.RLIMIT_NPROC: PROCESSES,
    resource.RLIMIT_CPU: CPU_SECONDS,
    resource.RLIMIT_CORE: 0,
}
HIDDEN = "hidden_tests"
CHANGED = "the code under test has changed "
LOOKED = "the code under test has looked for what is not its own: "


class Hopeless:
    """Can be called, and does nothing: no exercise is solved by it."""

    def __call__(self, *args: object, **named: object) -> None:
        return None


def run_one(name: str, module: ModuleType, then: Callable[[], object] = int) -> Outcome:
    """Run the tests of that name; empty: all of the module. After each, before anything that the
    code under test may have left to be done, call `then`."""
    loader, result = unittest.defaultTestLoader, Outcome()
    try:
        found = (
            loader.loadTestsFromName(name, module) if name else loader.loadTestsFromModule(module)
        )
        for case in _cases(found):
            _follow(case, then)
        found.run(result)
    except SystemExit as fault:
        result.note("failed", f"it called sys.exit({fault.code!r})")
    return result


def _cases(suite: unittest.TestSuite | unittest.TestCase) -> Iterator[unittest.TestCase]:
    if isinstance(suite, unittest.TestCase):
        yield suite
    else:
        for part in suite:
            yield from _cases(part)


def _follow(case: unittest.TestCase, then: Callable[[], object]) -> None:
    name = case.id().rpartition(".")[2]
    method = getattr(case, name, None)
    if method is None:
        return  # what could not be loaded says so when it is run

    @functools.wraps(method)
    def followed() -> object:
        try:
            return method()
        finally:
            then()

    setattr(case, name, followed)


def judge(name: str, seals: Sequence[Seal], module: Any) -> tuple[str, str]:
    """(outcome, what to tell) of one test."""
    found: list[str] = []

    def look() -> None:
        found.extend(filter(None, (seal.broken() for seal in seals)))

    result = run_one(name, module, look)
    look()
    if found:
        return "tampered", CHANGED + found[0]
    if result.outcome != "passed" or not hasattr(module, "load"):
        return result.outcome, result.said
    real = module.load
    vars(module)["load"] = lambda lesson, name: Hopeless()
    try:
        hopeless = run_one(name, module)
    finally:
        vars(module)["load"] = real
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
    fd, *names = sys.argv[1:]
    tell = Teller(int(fd), sys.stdin.buffer.readline().strip())
    hidden = Hidden(json.loads(sys.stdin.buffer.read()))
    sys.meta_path.insert(0, hidden)
    for limit, amount in LIMITS.items():
        _, hard = resource.getrlimit(limit)
        most = amount if hard == resource.RLIM_INFINITY else min(amount, hard)
        resource.setrlimit(limit, (most, most))
    modules = {}
    seals = [Seal()]  # a hidden test that imports the exercises loads what was handed in
    for name in names:
        module, _ = _parts(name)
        try:
            modules[name] = importlib.import_module(module)
        except Exception as fault:
            said = f"{name} cannot be imported: {type(fault).__name__}: {fault}"
            tell(names[0], "failed", said)
            os._exit(1)
    sys.meta_path.remove(hidden)
    del hidden
    seals.append(Seal())
    hide()
    hide_frames_of_signals()
    watch(lambda what: tell("", "tampered", LOOKED + what))
    tell_changes(lambda what: tell("", "tampered", CHANGED + what))
    for name in names:
        tell(name, "began")
        _, inner = _parts(name)
        tell(name, *judge(inner, seals, modules[name]))
    os._exit(0)  # threads that were left behind cannot keep us


def _parts(name: str) -> tuple[str, str]:
    """(module, name in it) of a test."""
    parts = name.split(".")
    count = 2 if parts[0] == HIDDEN else 3
    return ".".join(parts[:count]), ".".join(parts[count:])


def hide() -> None:
    """Take what judges out of the reach of plain attributes and, of hidden tests, of imports."""
    for name in [name for name in sys.modules if name.partition(".")[0] == HIDDEN]:
        del sys.modules[name]
    for name in ("grading", "tests"):  # imports of kits and rules find these without it
        vars(curriculum).pop(name, None)
