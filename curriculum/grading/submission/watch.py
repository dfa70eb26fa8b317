"""Notices code under test that looks for what is not its own: the frames and objects of the judge.

Python tells an audit hook of the few ways that lead from one's own code to somebody else's frames
or to all objects there are, and a hook cannot be taken off again. What came through such a way is
told to the parent at once, before it can be used; the first line of a test is the one that counts.
Code of the standard library that looks at frames for its own purposes (a traceback that is
printed, a namedtuple that asks for its module) is left alone.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any

FRAMES = {
    *("sys._getframe", "sys._current_frames", "sys._current_exceptions", "object.__getattr__"),
}
# No solution needs one of these, however deep in a library.
ANYWHERE = {
    *("gc.get_objects", "gc.get_referrers", "gc.get_referents", "sys.settrace", "sys.setprofile"),
    *("code.__new__", "sys.addaudithook"),
}
ATTRIBUTES = ("tb_frame", "gi_frame", "cr_frame", "ag_frame")
HARMLESS = ("/collections/__init__.py", "/typing.py", "/enum.py", "/dataclasses.py", "/warnings.py")
IN_WORDS = ("format_stack", "print_stack", "extract_stack")  # of traceback: frames as text
MEMORY = "ctypes", "_ctypes", "numpy.ctypeslib"  # that is all of memory
PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
_signal: Any = sys.modules["_signal"]
SEAL = os.path.join(os.path.dirname(__file__), "seal.py")
STDLIB = os.path.dirname(os.__file__)


def watch(tell: Callable[[str], None]) -> None:
    """From now on call `tell` with what code of `exercises.py` looks for, each time it does."""
    getframe, busy = sys._getframe, list[bool]()

    def hook(event: str, args: tuple[object, ...]) -> None:
        if busy or not _is_watched(event, args):
            return
        busy.append(True)
        try:
            if _is_foreign(getframe(1), event):
                what = {"object.__getattr__": args[1:2], "import": args[:1]}.get(event, ())
                tell(" ".join((event, *map(str, what))))
        finally:
            busy.clear()

    sys.addaudithook(hook)


def _is_watched(event: str, args: tuple[object, ...]) -> bool:
    if event == "object.__getattr__":
        return args[1] in ATTRIBUTES
    if event == "open":
        return isinstance(args[0], str) and args[0].startswith("/proc") and "mem" in args[0]
    if event == "compile":  # code that would say that it is of the library
        return not str(args[1]).startswith("<")
    if event == "import":
        return args[0] in MEMORY
    return event in FRAMES or event in ANYWHERE or event.startswith("ctypes.")


def _is_foreign(frame: FrameType, event: str) -> bool:
    """Whether submitted code asks, itself or through one function that hands frames out."""
    if event in ANYWHERE or event == "open":
        return any(is_submitted(code) for code in _codes(frame))
    codes = _codes(frame)
    if event == "import" or event.startswith("ctypes."):  # a library may have its own use for it
        while len(codes) > 1 and "/ctypes/" in codes[0].co_filename:
            del codes[0]
        return is_submitted(codes[0])
    first = codes[0]
    if first.co_filename == SEAL:  # which tells for itself what it finds
        return False
    is_in_words = first.co_filename == f"{STDLIB}/traceback.py" and first.co_name in IN_WORDS
    if is_in_words or first.co_filename.endswith(HARMLESS) or event == "compile":
        codes = codes[:1]
    while len(codes) > 1 and codes[0].co_filename == f"{STDLIB}/inspect.py":
        del codes[0]
    return any(is_submitted(code) for code in codes[:2])


def hide_frames_of_signals() -> None:
    """A handler of submitted code gets None in place of the frame: Python tells no hook of that
    way, and frames lead from there to the judge."""
    real = _signal.signal

    def without_frame(number: int, handler: Any) -> Any:
        if not callable(handler) or handler is _signal.default_int_handler or _is_ours(handler):
            return real(number, handler)
        return real(number, lambda number, frame: handler(number, None))

    _signal.signal = without_frame


def _is_ours(handler: object) -> bool:
    """Whether it is Python code of the package."""
    inner = handler.__func__ if type(handler) is MethodType else handler
    if type(inner) is not FunctionType or is_submitted(inner.__code__):
        return False
    return inner.__code__.co_filename.startswith(PACKAGE)


def _codes(frame: FrameType | None) -> list[CodeType]:
    """Of this frame and of those that called it, but for the judge's own start."""
    codes = []
    while frame is not None and frame.f_back is not None:
        codes.append(frame.f_code)
        frame = frame.f_back
    return codes or [watch.__code__]


def is_submitted(code: CodeType) -> bool:
    """Code of the exercises, or made by it from a text."""
    return code.co_filename.endswith("exercises.py") or code.co_filename == "<string>"
