"""The graders of s05 A and C are graded: the reference passes, wrong answers are told why."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from curriculum.grading.crash_table import DEATHS, grade_crash_table, observe_table, observe_wreck
from curriculum.grading.s05 import grade_save_points
from curriculum.lessons.s05_sessions import solutions
from curriculum.sessions.store import SessionStore


def test_the_reference_passes() -> None:
    grade_save_points(solutions.save_points)
    assert solutions.CRASH_TABLE is not None
    grade_crash_table(solutions.CRASH_TABLE)


Points = list[tuple[str, str]]


def point(line: bytes | str) -> tuple[str, str]:
    record = json.loads(line)
    return record["kind"], record["data"].get("call_id", "")


def whole_lines(path: str) -> list[bytes]:
    with open(path, "rb") as file:
        return file.read().split(b"\n")[:-1]


def with_splitlines(path: str) -> Points:
    with open(path, encoding="utf-8", errors="ignore") as file:
        lines = file.read().splitlines()
    return [point(line) for line in lines[1:]]


def with_readlines(path: str) -> Points:
    with open(path, "rb") as file:
        return [point(line) for line in file.readlines()[1:]]


def forgives_the_tail(path: str) -> Points:
    points = []
    with open(path, "rb") as file:
        for line in file.readlines()[1:]:
            try:
                points.append(point(line))
            except ValueError:
                continue
    return points


def with_header(path: str) -> Points:
    return [point(line) for line in whole_lines(path)]


def by_search(path: str) -> Points:
    kinds = ("user_input", "model_response", "tool_start", "tool_result", "turn_end")
    points = []
    for line in whole_lines(path)[1:]:
        fields = json.loads(line)
        kind = next(kind for kind in reversed(kinds) if f'"{kind}'.encode() in line)
        points.append((kind, fields["data"].get("call_id", "")))
    return points


def opens_the_session(path: str) -> Points:
    home = path.rpartition("/sessions/")[0]
    SessionStore.open(home, "session-1").close()
    return solutions.save_points(path)


def repairs_the_file(path: str) -> Points:
    lines = whole_lines(path)
    with open(path, "wb") as file:
        file.writelines(line + b"\n" for line in lines)
    return solutions.save_points(path)


def loses_the_last(path: str) -> Points:
    return solutions.save_points(path)[:-1]


def beside_data(path: str) -> Points:
    records = [json.loads(line) for line in whole_lines(path)[1:]]
    return [(record["kind"], record.get("call_id", "")) for record in records]


def only_kinds(path: str) -> list[str]:
    return [kind for kind, _ in solutions.save_points(path)]


def proposals_too(path: str) -> Points:
    points = []
    for line in whole_lines(path)[1:]:
        data = json.loads(line)["data"]
        points.append(point(line))
        points += [("tool_call", call["call_id"]) for call in data.get("tool_calls", [])]
    return points


WRONG_POINTS: dict[str, tuple[Callable[[str], object], str]] = {
    "splitlines": (with_splitlines, "JSONDecodeError"),
    "readlines takes the tail": (
        with_readlines,
        "1 byte of a record(.|\n)*JSONDecodeError(.|\n)*Invariants",
    ),
    "a tail that happens to be JSON": (forgives_the_tail, "of a record whose write was cut off"),
    "the header counts": (with_header, r"number 0 is \('session', ''\)"),
    "a word in a text is a kind": (by_search, "number 0 is"),
    "recovery writes": (opens_the_session, "whose write was cut off|to stay as it is"),
    "the tail is cut off": (repairs_the_file, "the file to stay as it is"),
    "the last record is lost": (loses_the_last, "you have"),
    "a call_id beside data": (beside_data, "number 2 to be .* .6 whole records.(.|\n)*Run it and"),
    "kinds only": (only_kinds, "number 0 is 'user_input'"),
    "calls are save points": (proposals_too, r"is \('tool_call', 'call-1'"),
    "None": (lambda path: None, r"a list of \(kind, call_id\)"),
}


@pytest.mark.parametrize("name", WRONG_POINTS)
def test_wrong_save_points_are_told_why(name: str) -> None:
    wrong, message = WRONG_POINTS[name]
    with pytest.raises(AssertionError, match=message):
        grade_save_points(wrong)  # type: ignore[arg-type]


def changed(moment: str, column: str, prediction: object) -> dict[str, dict[str, object]]:
    assert solutions.CRASH_TABLE is not None
    table = {name: dict(row) for name, row in solutions.CRASH_TABLE.items()}
    assert table[moment][column] is not prediction
    table[moment][column] = prediction
    return table


INTERRUPTED = "turn_end interrupted"
WRONG_TABLES: dict[str, tuple[object, str]] = {
    "a start is proof": (
        changed("tool has acted", "ran", "yes"),
        "'tool has acted': you say ran 'yes', killed processes show 'maybe'",
    ),
    "no effect yet, so nobody ran it": (
        changed("start saved", "ran", "no"),
        "'start saved': you say ran 'no', killed processes show 'maybe'",
    ),
    "a result that nobody saved": (
        changed("tool has acted", "recovery", ("tool_result completed", INTERRUPTED)),
        r"you say recovery \('tool_result completed', .* show \('tool_result unknown'",
    ),
    "not knowing where one knows": (
        changed("call saved", "recovery", ("tool_result unknown", INTERRUPTED)),
        "'call saved': you say recovery .* show .'tool_result not_executed'",
    ),
    "a refusal has a start": (
        changed(
            "refusal saved",
            "on disk",
            ("user_input", "model_response", "tool_start", "tool_result"),
        ),
        "'refusal saved': you say on disk",
    ),
    "the answer ends the turn": (
        changed("answer saved", "recovery", ()),
        "'answer saved': you say recovery .., killed processes show .'turn_end interrupted'",
    ),
    "an answered turn is a completed one": (
        changed("answer saved", "completed-only", True),
        "'answer saved': you say completed-only True, killed processes show False",
    ),
    "every turn is evidence": (
        changed("input saved", "with-evidence", True),
        "'input saved': you say with-evidence True, killed processes show False",
    ),
    "the end of the turn is added again": (
        changed("end saved", "recovery", (INTERRUPTED,)),
        "'end saved': you say recovery",
    ),
    "what is not saved is there": (
        changed("nothing saved", "on disk", ("user_input",)),
        "'nothing saved': you say on disk",
    ),
    "1 is not True": (changed("end saved", "with-evidence", 1), "you say with-evidence 1"),
    "a row left out": ({"call saved": {}}, "no row for 'nothing saved', "),
    "a column left out": ({moment: {} for moment in DEATHS}, "the columns on disk, ran"),
}


@pytest.mark.parametrize("name", WRONG_TABLES)
def test_wrong_tables_are_told_why(name: str) -> None:
    wrong, message = WRONG_TABLES[name]
    with pytest.raises(AssertionError, match=message):
        grade_crash_table(wrong)  # type: ignore[arg-type]


def test_a_list_is_as_good_as_a_tuple() -> None:
    assert solutions.CRASH_TABLE is not None
    table = {
        moment: {c: list(cell) if isinstance(cell, tuple) else cell for c, cell in row.items()}
        for moment, row in solutions.CRASH_TABLE.items()
    }
    grade_crash_table(table)


def test_a_kill_leaves_the_same_every_time() -> None:
    assert observe_table() == observe_table()


def test_a_tool_that_has_acted_leaves_the_file_of_one_that_has_not() -> None:
    before, after = observe_wreck("start saved"), observe_wreck("tool has acted")
    assert (before.on_disk, before.recovery) == (after.on_disk, after.recovery)
    assert (before.acted, after.acted) == (0, 1)
