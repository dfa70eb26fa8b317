"""Events: the one writer, injected time and ids, the line limit, a sink that is told at once."""

from __future__ import annotations

import datetime
import json
import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curriculum.core.errors import TraceError
from curriculum.core.line_limit import MARK, shorten
from curriculum.core.messages import ModelTurn
from curriculum.core.trace import (
    MAX_LINE_BYTES,
    Event,
    GoldenClock,
    Ids,
    Recorder,
    SystemClock,
    UniqueIds,
    clean_text,
    format_timestamp,
    to_json,
)
from tests.core.parts import Probe, asks, call, findings_in, runner_of

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_what_is_written_is_read_back_by_the_standard_library(data: Any) -> None:
    text = to_json(data)
    assert json.loads(text) == data
    assert text.encode()
    assert len(text.splitlines()) == 1


@given(JSON)
def test_the_writer_writes_what_json_dumps_writes_but_for_line_breaks(data: Any) -> None:
    wanted = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    for char in "\x85\u2028\u2029":
        wanted = wanted.replace(char, f"\\u{ord(char):04x}")
    assert to_json(data) == wanted


@given(st.text(st.characters(exclude_categories=())))
def test_text_is_cleaned_of_lone_surrogates_and_of_nothing_else(text: str) -> None:
    clean = clean_text(text)
    clean.encode()
    assert len(clean) == len(text)
    for before, after in zip(text, clean, strict=True):
        assert after == ("\ufffd" if "\ud800" <= before <= "\udfff" else before)
    assert json.loads(to_json(text)) == clean


@pytest.mark.parametrize("number", [2**53, -(2**53), float("nan"), float("inf")])
def test_a_number_that_readers_would_change_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match=r"JSON has no|beyond the integers"):
        to_json({"n": number})


@pytest.mark.parametrize("thing", [object(), b"bytes", {1, 2}])
def test_what_json_cannot_hold_is_refused(thing: object) -> None:
    with pytest.raises(TypeError, match="a trace cannot hold"):
        to_json([thing])


@given(st.datetimes(datetime.datetime(1970, 1, 1), datetime.datetime(9999, 12, 31)))
def test_timestamps_are_utc_with_six_digits(moment: datetime.datetime) -> None:
    since = moment - datetime.datetime(1970, 1, 1)
    wall_us = since // datetime.timedelta(microseconds=1)
    text = format_timestamp(wall_us)
    assert text == moment.isoformat(timespec="microseconds") + "Z"
    assert len(text) == 27


def test_the_golden_clock_starts_where_it_should_and_moves_a_millisecond_an_event() -> None:
    recorder = Recorder.golden()
    for _ in range(3):
        recorder.emit("x.test.event", actor_kind="user", actor_id="u", payload={})
    assert [event.elapsed_us for event in recorder.events] == [0, 1000, 2000]
    assert recorder.events[0].timestamp == "2026-01-01T00:00:00.000000Z"
    assert GoldenClock().read() == GoldenClock().read()


def test_the_system_clock_never_falls() -> None:
    clock = SystemClock()
    readings = [clock.read()[1] for _ in range(1000)]
    assert readings == sorted(readings)


def test_the_system_clock_reads_microseconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 1_767_225_600_123_456_789)
    monkeypatch.setattr(time, "monotonic_ns", lambda: 5_000_999)
    assert SystemClock().read() == (1_767_225_600_123_456, 5000)


@pytest.mark.parametrize("kind", ["trace", "session", "turn"])
def test_an_id_that_outlives_the_trace_is_its_kind_and_64_random_bits(kind: str) -> None:
    ids = [UniqueIds().next(kind) for _ in range(100)]
    assert all(re.fullmatch(rf"{kind}-[0-9a-f]{{16}}", id) for id in ids)
    assert len(set(ids)) == 100


def test_ids_count_by_kind_and_lasting_ones_are_random() -> None:
    ids = Ids()
    assert [ids.next("a"), ids.next("b"), ids.next("a")] == ["a-1", "b-1", "a-2"]
    assert UniqueIds().next("session") != UniqueIds().next("session")
    assert UniqueIds().next("event") == "event-1"


def test_the_sink_is_told_of_each_event_at_once() -> None:
    told: list[Event] = []
    recorder = Recorder.golden(told.append)
    for number in range(3):
        event = recorder.emit("x.a.b", actor_kind="user", actor_id="u", payload={})
        assert told[number] is event


def test_events_of_one_actor_do_not_share_what_a_reader_could_change_by_accident() -> None:
    recorder = Recorder.golden()
    one = recorder.emit("x.a.b", actor_kind="user", actor_id="u", payload={})
    two = recorder.emit("x.a.b", actor_kind="user", actor_id="v", payload={}, provenance="imported")
    assert (one.actor["id"], two.actor["id"]) == ("u", "v")
    assert (one.provenance["source"], two.provenance["source"]) == ("scripted", "imported")


@pytest.mark.parametrize("filler", ["x", "\u2028", "é", "\U0001f600", '"'])
@pytest.mark.parametrize("size", [MAX_LINE_BYTES // 20, MAX_LINE_BYTES, 2 * MAX_LINE_BYTES])
def test_no_line_passes_the_limit_and_a_cut_is_marked_and_pointed_at(
    filler: str, size: int
) -> None:
    turn = asks(call(0, arguments=filler * size), text=filler * size)
    result = runner_of([turn, ModelTurn("done")], Probe()).run("go")
    assert findings_in(result) == []
    for event in result.events:
        line = event.to_line().encode()
        assert len(line) <= MAX_LINE_BYTES
        data = json.loads(line)
        assert (data["redaction"]["status"] == "redacted") == (b"REDACTED:line-limit:1" in line)


def test_a_text_of_just_the_length_is_not_cut() -> None:
    assert shorten({"a": "x" * 10, "b": ["y" * 11]}, 10) == (
        ["/payload/b/0"],
        {"a": "x" * 10, "b": ["y" * 10 + MARK]},
    )


def test_a_cut_is_pointed_at_also_under_a_key_that_needs_escapes() -> None:
    recorder = Recorder.golden()
    payload = {"a/b~c": ["short", "x" * 2 * MAX_LINE_BYTES]}
    event = recorder.emit("x.a.b", actor_kind="user", actor_id="u", payload=payload)
    assert json.loads(event.to_line())["redaction"] == {
        "status": "redacted",
        "policy": "line-limit",
        "items": ["/payload/a~1b~0c/1"],
    }


@pytest.mark.parametrize("more", [-1, 0, 1])
@pytest.mark.parametrize("char", ["x", "é"])
def test_a_line_may_be_just_as_long_as_the_limit(char: str, more: int) -> None:
    def line(text: str) -> bytes:
        recorder = Recorder.golden()
        event = recorder.emit("x.a.b", actor_kind="user", actor_id="u", payload={"t": text})
        return event.to_line().encode()

    whole, part = divmod(MAX_LINE_BYTES + more - len(line("")), len(char.encode()))
    made = line("x" * part + char * whole)
    if more > 0:
        assert b"line-limit" in made
        assert len(made) <= MAX_LINE_BYTES
    else:
        assert b"line-limit" not in made
        assert len(made) == MAX_LINE_BYTES + more


def test_an_event_that_no_cut_can_help_is_a_trace_error() -> None:
    recorder = Recorder.golden()
    many = {f"field-{number:06}": "x" * 20 for number in range(10_000)}
    event = recorder.emit("x.a.b", actor_kind="user", actor_id="u", payload=many)
    with pytest.raises(TraceError, match="too many fields"):
        event.to_line()


def test_events_that_are_not_kept_are_numbered_and_shown_all_the_same() -> None:
    shown: list[Event] = []
    recorder = Recorder(GoldenClock(), Ids(), sink=shown.append, keep=lambda e: e.type != "delta")
    for type in ("start", "delta", "delta", "end"):
        recorder.emit(type, actor_kind="harness", actor_id="a", payload={})
    assert [event.sequence for event in shown] == [0, 1, 2, 3]
    assert [event.parent_id for event in shown] == [None, *[e.event_id for e in shown[:3]]]
    assert recorder.events == [shown[0], shown[3]]
    assert recorder.count == 4
