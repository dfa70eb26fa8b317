"""What the core needs of `dataclasses` and `typing`, without the cost of importing them.

A lesson's demo should start about as fast as Python itself. Importing `dataclasses` alone more
than doubles the start of a bare interpreter (it pulls in `inspect`, `re` and `enum`), so the core
builds its frozen values here. mypy reads `@value` as a frozen dataclass and `Protocol` as
`typing.Protocol`; at run time both are only what the core uses of them.
"""

from __future__ import annotations

TYPE_CHECKING = False  # mypy takes a name spelled so as True; importing it from typing is not free
if TYPE_CHECKING:
    from typing import Protocol as Protocol
    from typing import TypeVar

    from typing_extensions import dataclass_transform

    T = TypeVar("T")
else:
    Protocol = object

    def dataclass_transform(**_):
        return lambda function: function


_MISSING = object()


@dataclass_transform(frozen_default=True)
def value(cls: type[T]) -> type[T]:
    """Make `cls` an immutable value: fields are its annotations, in order, with their defaults.

    Instances compare and hash by their fields, like `@dataclass(frozen=True)`. Assigning to a
    field raises AttributeError; a wrong set of arguments raises TypeError.
    """
    names = tuple(cls.__annotations__)
    defaults = {name: cls.__dict__[name] for name in names if name in cls.__dict__}

    def __init__(self: T, *args: object, **given: object) -> None:
        if len(args) > len(names):
            raise TypeError(f"{cls.__name__} takes {len(names)} fields, not {len(args)}")
        fields = self.__dict__
        for name, argument in zip(names, args, strict=False):
            fields[name] = argument
        for name in names[len(args) :]:
            argument = given.pop(name, _MISSING)
            if argument is _MISSING:
                if name not in defaults:
                    raise TypeError(f"{cls.__name__} needs the field {name!r}")
                argument = defaults[name]
            fields[name] = argument
        if given:
            known = "given twice" if next(iter(given)) in names else "unknown"
            raise TypeError(f"{cls.__name__} field {next(iter(given))!r} is {known}")

    def __eq__(self: T, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return self.__dict__ == other.__dict__

    def __hash__(self: T) -> int:
        return hash(tuple(self.__dict__.values()))

    def __repr__(self: T) -> str:
        shown = ", ".join(f"{name}={self.__dict__[name]!r}" for name in names)
        return f"{cls.__name__}({shown})"

    def refuse(self: T, name: str, *_: object) -> None:
        raise AttributeError(f"{cls.__name__} is a value: {name!r} cannot be changed")

    methods = (__init__, __eq__, __hash__, __repr__)
    for method in methods:
        setattr(cls, method.__name__, method)
    for name in ("__setattr__", "__delattr__"):
        setattr(cls, name, refuse)
    type.__setattr__(cls, "__match_args__", names)
    return cls
