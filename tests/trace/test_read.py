"""Reading: any block size gives the same lines, and a huge line costs nothing."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterable, Iterator
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curriculum.core.trace import MAX_LINE_BYTES
from curriculum.trace import read as module
from curriculum.trace.codes import Verdict
from curriculum.trace.engines import make_engine
from curriculum.trace.read import LineReader, Read
from curriculum.trace.validate import Options, validate
from tests.trace.cases.redaction import SECRET
from tests.trace.story import calls, event, numbered, to_bytes


def reader_of(pieces: Iterable[bytes]) -> Read:
    """A file that comes in these pieces, whatever is asked for."""
    left: Iterator[bytes] = iter([piece for piece in pieces if piece])
    return lambda size: next(left, b"")


@given(st.lists(st.binary(max_size=8)), st.integers(1, 9))
def test_lines_do_not_depend_on_the_pieces_that_they_come_in(
    pieces: list[bytes], limit: int
) -> None:
    data = b"".join(pieces)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MAX_LINE_BYTES", limit)
        reader = LineReader(reader_of(pieces))
        lines = [line for batch in reader.batches() for line in batch]
    *whole, tail = data.split(b"\n")
    if len(tail) > limit:
        whole, tail = [*whole, tail], b""
    assert reader.tail == tail
    assert reader.bytes_read == len(data)
    assert len(lines) == len(whole)
    for line, expected in zip(lines, whole, strict=True):
        assert line == expected or (len(line) > limit and expected.startswith(line))


@pytest.mark.parametrize("engine", ["fast", "plain"])
def test_a_line_of_100_mb_is_one_finding_in_constant_memory(engine: str) -> None:
    lines = to_bytes(numbered(calls())).splitlines(keepends=True)
    pieces = [b"".join(lines[:3]), *([b"x" * 1_000_000] * 100), b"\n", b"".join(lines[4:])]
    tracemalloc.start()
    try:
        report = validate(reader_of(pieces), make_engine(engine))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [(finding.line, finding.code) for finding in report.findings] == [(4, "F05")]
    assert report.events == len(lines) - 1
    assert peak < 16_000_000


@pytest.mark.parametrize("engine", ["fast", "plain"])
@pytest.mark.parametrize(("extra", "codes"), [(0, []), (1, ["F05"])])
def test_a_line_with_its_lf_is_at_most_256_kib(engine: str, extra: int, codes: list[str]) -> None:
    story = calls()
    story.insert(1, event("x.acme.note", "harness", text=""))
    empty = to_bytes(numbered(story)).splitlines(keepends=True)[1]
    story[1]["payload"]["text"] = "x" * (MAX_LINE_BYTES - len(empty) + extra)
    data = to_bytes(numbered(story))
    assert len(data.splitlines(keepends=True)[1]) == MAX_LINE_BYTES + extra
    report = validate(BytesIO(data).read, make_engine(engine))
    assert [finding.code for finding in report.findings] == codes


def test_the_torn_tail_of_a_huge_line_is_told_once() -> None:
    data = to_bytes(numbered(calls())[:3]) + b"x" * (MAX_LINE_BYTES * 3)
    report = validate(BytesIO(data).read, make_engine("fast"))
    assert [(finding.line, finding.code) for finding in report.findings] == [(4, "F05")]
    assert report.verdict == Verdict.INVALID


@given(st.data())
def test_a_planted_secret_is_found_wherever_the_file_is_cut(data: st.DataObject) -> None:
    story = calls()
    story[1]["payload"]["content"] = f"Do not show {SECRET}, not even {SECRET}."
    trace = to_bytes(numbered(story)) + f"tail {SECRET}".encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(trace)), max_size=5)))
    pieces = [trace[a:b] for a, b in zip([0, *cuts], [*cuts, len(trace)], strict=True)]
    report = validate(reader_of(pieces), make_engine("fast"), Options(secrets=(SECRET,)))
    found = [(finding.line, finding.code) for finding in report.findings if finding.code == "R05"]
    assert found == [(2, "R05"), (16, "R05")]
    assert all("4711" not in f"{finding.message}{finding.pointer}" for finding in report.findings)


def test_a_secret_in_a_quoted_value_is_not_repeated() -> None:
    story = calls()
    story[1] = event(f"x.{SECRET}", "user", content="")
    story[2]["payload"][SECRET] = 1
    story[6]["payload"]["call_id"] = SECRET
    data = to_bytes(numbered(story))
    report = validate(BytesIO(data).read, make_engine("fast"), Options(secrets=(SECRET,)))
    shown = "".join(f.message + f.pointer for f in (*report.findings, *report.warnings))
    assert "[REDACTED:canary:1]" in shown
    assert "4711" not in shown


def test_a_first_line_cut_inside_a_character_is_torn() -> None:
    data = '{"payload":{"content":"é'.encode()[:-1]
    report = validate(BytesIO(data).read, make_engine("fast"))
    assert report.verdict == Verdict.TORN
    assert report.events == 0
