"""Values are frozen dataclasses in all but import cost; a prefix is a tuple in all but copying."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curriculum.core.messages import Message, ModelTurn
from curriculum.core.values import Prefix, as_data, replace, value


@value
class Point:
    x: int
    y: int = 2

    @property
    def sum(self) -> int:
        return self.x + self.y


@dataclass(frozen=True, slots=True)
class Twin:
    x: int
    y: int = 2


@given(st.lists(st.integers(), max_size=3), st.dictionaries(st.sampled_from("xyz"), st.integers()))
def test_a_value_takes_what_a_frozen_dataclass_takes(
    args: list[int], fields: dict[str, int]
) -> None:
    try:
        twin = Twin(*args, **fields)
    except TypeError:
        with pytest.raises(TypeError, match="Point"):
            Point(*args, **fields)
        return
    point = Point(*args, **fields)
    assert (point.x, point.y, point.sum) == (twin.x, twin.y, twin.x + twin.y)
    assert repr(point) == repr(twin).replace("Twin", "Point")


def test_what_a_value_lacks_or_has_too_much_is_told() -> None:
    for make, said in (
        (lambda: Point(1, 2, 3), "Point takes 2 fields, not 3"),
        (lambda: Point(y=1), "Point needs the field 'x'"),
        (lambda: Point(1, x=2), "Point field 'x' is given twice"),
        (lambda: Point(1, z=2), "Point field 'z' is unknown"),
    ):
        with pytest.raises(TypeError) as fault:
            make()
        assert str(fault.value) == said


def test_a_value_cannot_be_changed() -> None:
    point = Point(1)
    for change in (
        lambda: setattr(point, "x", 5),
        lambda: setattr(point, "z", 5),
        lambda: delattr(point, "x"),
    ):
        with pytest.raises(AttributeError, match=r"^Point is a value: '[xz]' cannot be changed$"):
            change()
    assert point == Point(1, 2)


def test_values_compare_and_hash_by_their_fields_and_kind() -> None:
    assert Point(1) == Point(1, 2)
    assert hash(Point(1)) == hash(Point(1, 2))
    assert Point(1) != Point(2)
    assert Point(1) != Twin(1)
    assert len({hash(Point(number)) for number in range(100)}) > 1


def test_values_survive_copy_pickle_and_match() -> None:
    message = Message("user", "hi")
    assert copy.deepcopy(message) == message
    assert pickle.loads(pickle.dumps(message)) == message
    match message:
        case Message(role, content):
            assert (role, content) == ("user", "hi")


def test_a_value_can_be_copied_with_other_fields() -> None:
    turn = ModelTurn("a", chunks=("a",))
    assert replace(turn, content="b") == ModelTurn("b", chunks=("a",))
    assert as_data(Point(1)) == {"x": 1, "y": 2}
    with pytest.raises(TypeError, match="'z' is unknown"):
        replace(Point(1), z=3)


@given(st.lists(st.integers(), max_size=6), st.lists(st.integers(), max_size=3), st.data())
def test_a_prefix_is_what_the_list_was(
    items: list[int], later: list[int], data: st.DataObject
) -> None:
    growing = list(items)
    prefix = Prefix(growing)
    growing += later
    assert prefix == items
    assert prefix == tuple(items)
    assert (len(prefix), list(prefix), repr(prefix)) == (len(items), items, repr(items))
    assert list(reversed(prefix)) == items[::-1]
    cut = data.draw(st.slices(len(items)))
    assert prefix[cut] == tuple(items)[cut]
    for index in range(-len(items) - 1, len(items) + 1):
        try:
            wanted = items[index]
        except IndexError:
            with pytest.raises(IndexError):
                prefix[index]
        else:
            assert prefix[index] == wanted
    assert all(item in prefix for item in items)


def test_a_prefix_equals_lists_and_tuples_of_the_same_and_nothing_else() -> None:
    prefix = Prefix([1, 2])
    assert prefix == Prefix([1, 2])
    for other in ([1], [1, 3], (2, 1), Prefix([1]), {1: "", 2: ""}, "12", 5, None):
        assert prefix != other
