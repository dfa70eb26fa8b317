"""What the core needs of `dataclasses` and `typing`, without the cost of importing them.

A lesson's demo should start about as fast as Python itself. Importing `dataclasses` alone more
than doubles the start of a bare interpreter (it pulls in `inspect`, `re` and `enum`), so the core
builds its frozen values here. mypy reads `@value` as a frozen dataclass and `Protocol` as
`typing.Protocol`; at run time both are only what the core uses of them.
"""

from __future__ import annotations

TYPE_CHECKING = False  # mypy takes a name spelled so as True; importing it from typing is not free
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, TypeVar
    from typing import Protocol as Protocol

    from typing_extensions import dataclass_transform

    T = TypeVar("T")
    AnySequence = Sequence[Any]
else:
    Protocol = AnySequence = object

    def dataclass_transform(**_):
        return lambda function: function


def _set_fields(self: Any, *args: object, **given: object) -> None:
    names = self.__slots__
    if len(args) > len(names):
        raise TypeError(f"{type(self).__name__} takes {len(names)} fields, not {len(args)}")
    store = object.__setattr__
    for name, argument in zip(names, args, strict=False):
        store(self, name, argument)
    for name in names[len(args) :]:
        if name in given:
            store(self, name, given.pop(name))
        elif name in self._defaults:
            store(self, name, self._defaults[name])
        else:
            raise TypeError(f"{type(self).__name__} needs the field {name!r}")
    for name in given:
        how = "given twice" if name in names else "unknown"
        raise TypeError(f"{type(self).__name__} field {name!r} is {how}")


def _fields(self: Any) -> tuple[object, ...]:
    return tuple([getattr(self, name) for name in self.__slots__])


def _is_equal(self: object, other: object) -> bool:
    return _fields(self) == _fields(other) if type(other) is type(self) else NotImplemented


def _hash(self: object) -> int:
    return hash(_fields(self))


def _show(self: Any) -> str:
    shown = ", ".join([f"{name}={getattr(self, name)!r}" for name in self.__slots__])
    return f"{type(self).__name__}({shown})"


def _refuse(self: object, name: str, *_: object) -> None:
    raise AttributeError(f"{type(self).__name__} is a value: {name!r} cannot be changed")


def _rebuild(self: object) -> tuple[type, tuple[object, ...]]:
    return type(self), _fields(self)  # copy and pickle cannot assign to a value either


_METHODS = {
    "__init__": _set_fields,
    "__eq__": _is_equal,
    "__hash__": _hash,
    "__repr__": _show,
    "__setattr__": _refuse,
    "__delattr__": _refuse,
    "__reduce__": _rebuild,
}


@dataclass_transform(frozen_default=True)
def value(cls: type[T]) -> type[T]:
    """Make `cls` an immutable value: fields are its annotations, in order, with their defaults.

    Instances compare and hash by their fields, like `@dataclass(frozen=True, slots=True)`.
    Assigning to a field raises AttributeError; a wrong set of arguments raises TypeError.
    """
    body = {**cls.__dict__, **_METHODS}
    names = tuple(cls.__annotations__)
    body["_defaults"] = {name: body.pop(name) for name in names if name in body}
    body["__slots__"] = body["__match_args__"] = names
    del body["__dict__"], body["__weakref__"]
    remade: type[T] = type(cls.__name__, (), body)
    return remade


def as_data(thing: Any) -> dict[str, Any]:
    """The fields of a value by name, as a new dict."""
    return {name: getattr(thing, name) for name in thing.__slots__}


def replace(thing: T, **changes: Any) -> T:
    """A value like `thing`, with other fields."""
    return type(thing)(**{**as_data(thing), **changes})


class Prefix(AnySequence):
    """The first entries of a list that only grows: as fixed as a tuple of them, made at once.

    Each request of a run shows the model all messages so far; copying them each time would make
    the cost of a run grow with the square of its length. Equal to a list or tuple of the same.
    """

    __slots__ = ("_items", "_length")

    def __init__(self, items: list[Any]) -> None:
        self._items, self._length = items, len(items)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(self._items[: self._length])[index]
        return self._items[range(self._length)[index]]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items[: self._length])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (Prefix, list, tuple)) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))
