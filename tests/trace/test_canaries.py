"""Planted secrets: found in every spelling and across pieces, told once, never shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curriculum.trace.engines import make_engine
from curriculum.trace.validate import Options, Report, validate
from tests.trace import story
from tests.trace.cases.edit import Edit
from tests.trace.story import numbered, to_bytes

ENGINE = make_engine()
SECRET = 'sécr+et"&/\\ 😀'


def look(data: bytes, *secrets: str, block: int = 1 << 18) -> Report:
    stream = BytesIO(data)
    return validate(lambda size: stream.read(min(size, block)), ENGINE, Options(secrets=secrets))


def places(report: Report) -> list[tuple[int, str, str]]:
    return [(found.line, found.code, found.pointer) for found in report.findings]


def units(char: str) -> str:
    data = char.encode("utf-16-be")
    return "".join(f"\\u{data[at : at + 2].hex()}" for at in range(0, len(data), 2))


SPELLINGS: list[Callable[[str], str]] = [
    lambda char: json.dumps(char, ensure_ascii=False)[1:-1],
    lambda char: json.dumps(char)[1:-1],
    units,
    lambda char: units(char).upper().replace("U", "u"),
    lambda char: "\\/" if char == "/" else json.dumps(char)[1:-1],
]


@given(
    st.lists(
        st.lists(st.sampled_from(SPELLINGS), min_size=13, max_size=13), min_size=1, max_size=3
    ),
    st.integers(1, 400),
)
def test_a_secret_is_found_once_however_json_spells_it(
    levels: list[list[Callable[[str], str]]], block: int
) -> None:
    text = SECRET
    for spellings in levels:  # JSON, JSON in JSON, and so on
        text = "".join(spellings[at % len(spellings)](char) for at, char in enumerate(text))
    data = to_bytes(numbered(story.calls())).replace(b"What time", b"What " + text.encode())
    assert json.loads(data.splitlines()[1])
    report = look(data, SECRET, block=block)
    assert places(report) == [(2, "R05", "")]


@pytest.mark.parametrize("spelled", [r"s\u00E9cr\u002Bet", r"\u0073\u00e9cr+et", "sécr+et"])
@pytest.mark.parametrize("cut", ["line", "torn", "half", "bytes"])
def test_a_line_that_cannot_be_parsed_is_looked_through_too(spelled: str, cut: str) -> None:
    lines = to_bytes(numbered(story.calls())).splitlines(keepends=True)
    broken = b"\xff" if cut == "bytes" else b""
    lines[1] = b'{"content":"' + broken + spelled.encode() + (b"" if cut == "half" else b"\n")
    report = look(b"".join(lines[:2]) if cut == "torn" else b"".join(lines), "sécr+et")
    assert (2, "R05", "") in places(report)


def test_what_only_looks_like_an_escape_is_no_secret() -> None:
    data = to_bytes(numbered(story.calls()))
    for text in (rb"\\\\\\u007", rb"u0073ecret", rb"\\q secre"):
        assert places(look(data.replace(b"What time", text), "secret")) == []


def test_a_secret_in_arguments_is_never_shown() -> None:
    secret = 'pass"wörd'
    for spelled in (json.dumps(secret), '"' + "".join(map(units, secret)) + '"'):
        edit = Edit()
        line = edit.payload("tool.call", arguments=f'{{"command":{spelled}}}')
        report = look(edit.data(), secret)
        assert places(report) == [(line, "R05", ""), (line, "T08", "/payload/arguments")]
        for found in report.findings:
            assert "pass" not in found.message
            assert "u0070" not in found.message


@pytest.mark.parametrize(
    "pieces", [("My sec", "ret 4711."), ("s", "ecret", " 4711"), ("sec\\u0072", "et 4711")]
)
@pytest.mark.parametrize("is_open", [True, False])
def test_a_secret_across_outputs_is_told_where_it_is_whole(
    pieces: tuple[str, ...], is_open: bool
) -> None:
    edit = Edit()
    at = edit.at("tool.output")
    edit.drop("tool.output")
    outputs = [story.output(index) for index in range(len(pieces))]
    for output, text in zip(outputs, pieces, strict=True):
        output["payload"]["text"] = text
    last = edit.put(at, *outputs) + len(pieces) - 1
    if is_open:
        del edit.events[last:]
    report = look(edit.data(), "secret 4711")
    assert places(report) == [(last, "R05", "/payload/text")]
    assert "4711" not in report.findings[0].message


def test_pieces_of_other_streams_and_calls_do_not_join() -> None:
    edit = Edit()
    edit.payload("tool.output", text="secret")
    edit.put(edit.at("tool.result"), story.output(1))
    edit.payload("tool.output", 1, text=" 4711", stream="stderr")
    assert places(look(edit.data(), "secret 4711")) == []


def test_where_the_result_shows_it_too_only_the_result_is_told() -> None:
    edit = Edit()
    edit.payload("tool.output", text="secret")
    edit.put(edit.at("tool.result"), story.output(1))
    edit.payload("tool.output", 1, text=" 4711")
    line = edit.payload("tool.result", output="secret 4711")
    assert places(look(edit.data(), "secret 4711")) == [(line, "R05", "")]


def test_a_secret_in_deltas_without_a_response_is_found() -> None:
    events = [story.start(), story.user(), story.request(1, "user")]
    events += [story.delta(1, index, text) for index, text in enumerate(["sec", "ret", " 4711"])]
    report = look(to_bytes(numbered(events)), "secret 4711", "secret")
    assert places(report) == [(5, "R05", "/payload/text"), (6, "R05", "/payload/text")]


def test_a_mask_that_is_escaped_is_a_mask() -> None:
    edit = Edit()
    edit.payload("user.message", content="[REDACTED:k:1]")
    line = edit.fields("user.message", redaction={"status": "clean"})
    for spelled in (rb"\u005bREDACTED", rb"[\u0052EDACTED", rb"[REDACTE\u0044"):
        report = look(edit.data().replace(b"[REDACTED", spelled))
        assert places(report) == [(line, "R02", "/redaction/status")]
    literal = edit.data().replace(b"[REDACTED", rb"\\u005bREDACTED")
    assert places(look(literal)) == []
