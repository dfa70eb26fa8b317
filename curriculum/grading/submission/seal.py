"""Notices that what judges is no longer what it was: modules, classes, functions and tables."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from types import FunctionType, ModuleType

from curriculum.grading.submission.watch import is_submitted

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
JUDGES = ("curriculum.grading", "curriculum.tests", "hidden_tests", "unittest")
TABLES = JUDGES[:3]  # the contents of their lists and dicts, too
# What Python and unittest themselves change while a test is run.
PASSING = (
    *("_", "__warningregistry__", "__annotations__", "__abstractmethods__"),
    *("_classSetupFailed", "_class_cleanups", "tearDown_exceptions", "__builtins__"),
    *("maxDiff", "longMessage"),  # that a hidden test may choose
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
        is_table = name.startswith(TABLES)
        parts = {key: (part, _inner(part, is_table)) for key, part in list(vars(owner).items())}
        self._kept.append((name, owner, parts))

    def broken(self) -> str:
        """The first thing that is no longer what it was, or nothing."""
        for name, owner, parts in self._kept:
            now, is_table = vars(owner), name.startswith(TABLES)
            for key, (part, inner) in parts.items():
                if key in PASSING:
                    continue
                if now.get(key, self) is not part or _differ(_inner(part, is_table), inner):
                    return f"{name}.{key}"
            if name.startswith(JUDGES) and len(now) > len(parts):
                for key in now.keys() - parts.keys() - set(PASSING):
                    if _shadows(owner, key):
                        return f"{name}.{key}"
        return ""


def _shadows(owner: object, name: str) -> bool:
    """Whether a new name there comes in front of another one."""
    outer = owner.__mro__[1:] if isinstance(owner, type) else (builtins,)
    return any(name in vars(one) for one in outer)


def _inner(part: object, is_table: bool) -> Parts:
    """What can be exchanged in a thing without exchanging the thing."""
    if isinstance(part, (staticmethod, classmethod)):
        part = part.__func__
    if isinstance(part, property):
        return (part.fget, *_inner(part.fget, False))
    if isinstance(part, FunctionType):
        return (part.__code__, part.__defaults__, part.__kwdefaults__)
    if is_table and isinstance(part, (list, set)):
        return tuple(part)
    if is_table and isinstance(part, dict):
        return (*part, *part.values())
    return ()


def _differ(now: Parts, before: Parts) -> bool:
    return len(now) != len(before) or any(
        one is not other for one, other in zip(now, before, strict=True)
    )


def tell_changes(tell: Callable[[str], None]) -> None:
    """From now on call `tell` with what submitted code sets or deletes in a module of the package,
    each time it does: it could put it back before anybody looks."""
    getframe = sys._getframe

    class Sealed(ModuleType):
        def __setattr__(self, name: str, value: object) -> None:
            if is_submitted(getframe(1).f_code):
                tell(f"{self.__name__}.{name}")
            super().__setattr__(name, value)

        def __delattr__(self, name: str) -> None:
            if is_submitted(getframe(1).f_code):
                tell(f"{self.__name__}.{name}")
            super().__delattr__(name)

    for name, module in list(sys.modules.items()):
        if name.startswith(SEALED) and type(module) is ModuleType:
            module.__class__ = Sealed
