"""Finds what is to be graded: the learner's exercises.py, or the reference in solutions.py.

An exercise counts as started as soon as its stub is no longer a stub. That is read from the syntax
tree of the file, so a NotImplementedError out of a half-done solution is a failure and not a skip,
and a file that cannot be read as Python fails with its line instead of taking the suite down.
"""

from __future__ import annotations

import ast
import importlib
import os
import traceback
import unittest
from pathlib import Path
from typing import Any

__unittest = True

RULES = ("cancellation_rules", "transition_table")
KITS = ("_conformance", "_under_test")
LESSONS = Path(__file__).resolve().parent.parent / "lessons"


def load(lesson: str, name: str) -> Any:
    """The object `name` of the lesson's exercises (`CURRICULUM_SOLUTIONS=1`: of its solutions).

    Raises unittest.SkipTest for a stub, AssertionError where the file cannot be loaded.
    """
    solutions = os.environ.get("CURRICULUM_SOLUTIONS") == "1"
    module = "solutions" if solutions else "exercises"
    shown = f"curriculum/lessons/{lesson}/{module}.py"
    tree = parse(LESSONS / lesson / f"{module}.py", shown)
    if not solutions and is_stub(tree, name):
        raise unittest.SkipTest(f"not started: {shown}, {name}")
    if not solutions and (peek := _peek(tree)):
        raise AssertionError(f"{shown}, line {peek}; what is graded has to be your own")
    try:
        loaded = importlib.import_module(f"curriculum.lessons.{lesson}.{module}")
    except KeyboardInterrupt:
        raise
    except BaseException as fault:
        raise AssertionError(_cannot_import(fault, LESSONS / lesson, shown)) from fault
    if not hasattr(loaded, name):
        raise AssertionError(f"{shown} no longer defines {name}; put it back under that name")
    return getattr(loaded, name)


def parse(path: Path, shown: str) -> ast.Module:
    """The syntax tree of the file. Raises AssertionError with the line that is not Python."""
    try:
        return ast.parse(path.read_bytes(), shown)
    except OSError as fault:
        restore = f"restore it with: git checkout -- {shown}"
        raise AssertionError(f"{shown} cannot be read ({fault.strerror}); {restore}") from None
    except SyntaxError as fault:
        where = f"{shown}, line {fault.lineno}" if fault.lineno else shown
        raise AssertionError(f"{where}: {type(fault).__name__}: {fault.msg}") from None
    except ValueError as fault:
        raise AssertionError(f"{shown}: {fault}") from None


def is_stub(tree: ast.Module, name: str) -> bool:
    """Whether `name` is still as it was handed out: a body that only raises, or no data."""
    for node in reversed(tree.body):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
            return _only_raises(node.body)
        if isinstance(node, ast.AnnAssign) and _names(node.target, name):
            return node.value is None or _is_nothing(node.value)
        if isinstance(node, ast.Assign) and any(_names(target, name) for target in node.targets):
            return _is_nothing(node.value)
    return False


def _peek(tree: ast.Module) -> str:
    """Where the file imports the reference or what the grader knows: `N imports ...`, or nothing.

    Kits and rules may be imported: they hold no answers.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module or ''}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            answers = "solutions" in parts or parts[:2] == ["curriculum", "tests"]
            answers = answers or parts[0] == "hidden_tests"
            graders = parts[:2] == ["curriculum", "grading"] and not any(
                part in RULES or part.endswith(KITS) for part in parts[2:]
            )
            if answers or graders:
                return f"{node.lineno} imports {name.strip('.')}"
    return ""


def _names(target: ast.expr, name: str) -> bool:
    return isinstance(target, ast.Name) and target.id == name


def _is_nothing(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value in (None, ...)


def _only_raises(body: list[ast.stmt]) -> bool:
    """A docstring, then `raise NotImplementedError`; of a class: methods that are all like that."""
    for node in body:
        if isinstance(node, ast.FunctionDef):
            if not _only_raises(node.body):
                return False
        elif isinstance(node, ast.Raise):
            raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            if not (isinstance(raised, ast.Name) and raised.id == "NotImplementedError"):
                return False
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            return False
    return True


def _cannot_import(fault: BaseException, folder: Path, shown: str) -> str:
    """One line: file, line, error. The line is the last one in the learner's own folder."""
    said = f"{type(fault).__name__}: {fault}".rstrip(": ")
    if isinstance(fault, SyntaxError) and fault.filename:
        return (
            f"{shown} cannot be imported: {Path(fault.filename).name}, line {fault.lineno}: {said}"
        )
    frames = traceback.extract_tb(fault.__traceback__)
    mine = [frame for frame in frames if Path(frame.filename).parent == folder]
    if not mine:
        return f"{shown} cannot be imported: {said}"
    name = Path(mine[-1].filename).name
    other = "" if shown.endswith(f"/{name}") else f" (in {name})"
    return f"{shown}, line {mine[-1].lineno}{other}: {said}"
