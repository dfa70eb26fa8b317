"""Real runs are complete in both engines; broken ones never crash, and both engines agree."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from io import BytesIO

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from curriculum.core.loop import AgentRunner
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.trace import Recorder
from curriculum.trace.codes import Verdict
from curriculum.trace.engines import Engine, make_engine
from curriculum.trace.strict import LineError, parse_strict
from curriculum.trace.validate import Options, Report, validate
from tests.trace.runs import PLANS, Plan, perform
from tests.trace.story import calls, numbered, to_bytes

# Any example will do: no time is spent on making it small.
FIRST = settings(phases=[Phase.generate], max_examples=1000)


@cache
def engine(name: str) -> Engine:
    return make_engine(name)


def both(data: bytes, options: Options | None = None) -> Report:
    """The report, which is the same from both engines, word for word."""
    fast = validate(BytesIO(data).read, engine("fast"), options)
    plain = validate(BytesIO(data).read, engine("plain"), options)
    assert fast == plain
    return fast


@given(PLANS)
def test_every_real_run_is_complete(plan: Plan) -> None:
    report = both(perform(plan), Options(is_strict=True))
    assert [(f.line, f.code, f.pointer, f.message) for f in report.findings] == []
    assert report.verdict == Verdict.COMPLETE


def test_the_plans_reach_every_kind_of_event() -> None:
    wanted = {
        "approval.decision",
        "budget.spend",
        "cancel.request",
        "context.compact",
        "error",
        "journal.append",
        "model.delta",
        "retry.wait",
        "tool.output",
    }
    for kind in sorted(wanted):
        needle = f'"type":"{kind}"'.encode()
        find(PLANS, lambda plan, needle=needle: needle in perform(plan), settings=FIRST)
    for status in ("denied", "not_executed", "invalid_arguments", "unknown_tool", "unknown"):
        needle = f'"status":"{status}"'.encode()
        find(PLANS, lambda plan, needle=needle: needle in perform(plan), settings=FIRST)


@pytest.mark.parametrize("letter", ["x", "é", "\u2028"])
def test_a_run_whose_texts_were_cut_is_complete(letter: str) -> None:
    big = letter * 300_000
    call = ToolCall("call-1", "bash", big)
    turns = [ModelTurn("", (call,), chunks=("so ", big)), ModelTurn(big)]
    runner = AgentRunner(ScriptedModel(turns), recorder=Recorder.golden())
    trace = "".join(event.to_line() for event in runner.run(big).events).encode()
    report = both(trace, Options(is_strict=True))
    assert report.findings == ()
    assert report.verdict == Verdict.COMPLETE
    assert trace.count(b'"policy":"line-limit"') >= 5


@given(PLANS, st.data())
def test_every_beginning_of_a_real_run_is_open_or_torn(plan: Plan, data: st.DataObject) -> None:
    trace = perform(plan)
    cut = data.draw(st.integers(0, len(trace) - 1))
    report = both(trace[:cut])
    whole = cut == 0 or trace[cut - 1 : cut] == b"\n"
    assert report.verdict == (Verdict.OPEN if whole else Verdict.TORN)
    assert report.error_count == 0


EDITS = st.lists(
    st.tuples(
        st.sampled_from(["drop", "copy", "swap", "byte", "word", "cut", "insert"]),
        st.integers(0, 40),
        st.integers(0, 600),
        st.sampled_from([b"0", b'"', b"}", b"\n", b"\xff", b"null", b"-1", b"[", b"\\", b"1.0"]),
    ),
    min_size=1,
    max_size=3,
)


def mutate(trace: bytes, edits: list[tuple[str, int, int, bytes]]) -> bytes:
    lines = trace.splitlines(keepends=True)
    for what, at, column, piece in edits:
        if not lines:
            break
        at %= len(lines)
        line = lines[at]
        column %= max(len(line), 1)
        if what == "drop":
            del lines[at]
        elif what == "copy":
            lines.insert(at, line)
        elif what == "swap":
            lines[at], lines[at - 1] = lines[at - 1], lines[at]
        elif what == "byte":
            lines[at] = line[:column] + piece + line[column + 1 :]
        elif what == "insert":
            lines[at] = line[:column] + piece + line[column:]
        elif what == "cut":
            lines[at] = line[:column]
        else:
            for old, new in ((b'"tool.', b'"model.'), (b"-1", b"-2"), (b":1", b":2")):
                lines[at] = lines[at].replace(old, new, 1)
    return b"".join(lines)


@given(PLANS, EDITS)
def test_a_broken_run_never_crashes_and_both_engines_agree(
    plan: Plan, edits: list[tuple[str, int, int, bytes]]
) -> None:
    both(mutate(perform(plan), edits))


@given(EDITS)
def test_a_broken_story_never_crashes_and_both_engines_agree(
    edits: list[tuple[str, int, int, bytes]],
) -> None:
    both(mutate(to_bytes(numbered(calls())), edits))


@given(PLANS, st.lists(st.tuples(*[st.integers(0, 10**6)] * 4), min_size=1, max_size=3))
def test_values_that_change_places_never_crash_and_both_engines_agree(
    plan: Plan, moves: list[tuple[int, int, int, int]]
) -> None:
    events = [json.loads(line) for line in perform(plan).splitlines()]
    for source, target, field, other in moves:
        given, taken = events[source % len(events)], events[target % len(events)]
        insides = [given.get("payload"), taken.get("payload")]
        if field % 4 and all(isinstance(inside, dict) and inside for inside in insides):
            given, taken = insides
        keys = sorted(given)
        value = given[keys[field % len(keys)]]
        taken[keys[(field if other % 4 else other) % len(keys)]] = value
    both(to_bytes(events), Options(is_strict=bool(moves[0][0] % 2)))


def test_what_nests_forty_deep_beside_much_else_is_not_too_deep() -> None:
    deep: object = []
    for _ in range(39):
        deep = [deep]
    first, *rest = numbered(calls())
    noted = {**first, "ext": {"acme.note": [deep, *[[]] * 40]}}
    assert both(to_bytes([noted, *rest])).verdict == Verdict.COMPLETE


def test_one_missing_line_gives_at_most_two_findings() -> None:
    lines = to_bytes(numbered(calls())).splitlines(keepends=True)
    for index in range(len(lines) - 1):
        report = both(b"".join([*lines[:index], *lines[index + 1 :]]))
        found = [finding.code for finding in report.findings]
        assert 1 <= len(found) <= 2, (index, report.findings)
        assert "S01" in found


def test_one_line_of_rubbish_gives_one_finding() -> None:
    lines = to_bytes(numbered(calls())).splitlines(keepends=True)
    for index in range(len(lines) - 1):
        report = both(b"".join([*lines[:index], b"rubbish\n", *lines[index + 1 :]]))
        assert [finding.code for finding in report.findings] == ["F03"], index
    assert report.verdict == Verdict.INVALID


@given(st.binary(max_size=200))
def test_any_bytes_get_a_verdict(data: bytes) -> None:
    report = both(data)
    if not data:
        assert report.verdict == Verdict.OPEN


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda children: (
        st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=3), children, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=3), JSON, max_size=4), st.booleans(), st.booleans())
def test_both_parsers_take_the_same_lines(tree: object, compact: bool, ascii: bool) -> None:
    separators = (",", ":") if compact else None
    line = json.dumps(tree, separators=separators, ensure_ascii=ascii).encode(
        "utf-8", "surrogatepass"
    )
    results = []
    for parse in (engine("fast").parse, parse_strict):
        try:
            results.append(repr(parse(line)))
        except LineError as error:
            results.append(f"{error.code} {error.pointer} {error.message}")
    assert results[0] == results[1]


def test_counts_by_code_add_up() -> None:
    lines = to_bytes(numbered(calls())).splitlines(keepends=True)
    report = both(b"".join(lines[3:6] + lines[:3]), Options(limit=2))
    assert len(report.findings) == 2
    assert sum(Counter(report.codes).values()) == report.error_count > 2
