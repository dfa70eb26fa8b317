"""Two traces compared: each verdict, the first divergence, and the chain that led there."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from curriculum.trace.diff import Likeness, Story, compare
from tests.trace.commands import run
from tests.trace.runs import PLANS, Plan, perform
from tests.trace.story import (
    Event,
    calls,
    decision,
    event,
    failed,
    numbered,
    place,
    request,
    to_bytes,
)


def likeness(one: list[Event], other: list[Event]) -> Likeness:
    stories = Story(), Story()
    for story, events in zip(stories, (one, other), strict=True):
        story.see(to_bytes(events))
    return compare(one, other, stories).likeness


def changed(path: str, value: Any, kind: str, nth: int = 0) -> list[Event]:
    """The story with one field of one payload changed."""
    story = copy.deepcopy(calls())
    node = story[place(story, kind, nth)]["payload"]
    *steps, last = path.split("/")
    for step in steps:
        node = node[int(step) if step.isdecimal() else step]
    node[last] = value
    return numbered(story)


def other_ids(events: list[Event]) -> list[Event]:
    """The same events under other ids and at other times."""
    text = to_bytes(events).decode()
    for kind in ("trace", "session", "event", "request", "approval", "call"):
        text = text.replace(f'"{kind}-', f'"other.{kind}-')
    made = [json.loads(line) for line in text.splitlines()]
    for late in made:
        late["elapsed_us"] += 77
        late["provenance"] = {"source": "live"}
    return made


RIGHT = numbered(calls())


def test_equal_files_have_the_same_bytes() -> None:
    assert likeness(RIGHT, RIGHT) is Likeness.BYTES


def test_other_ids_and_times_are_the_same_after_normalisation() -> None:
    assert likeness(RIGHT, other_ids(RIGHT)) is Likeness.NORMALISED


def test_a_duration_is_no_difference_after_normalisation() -> None:
    slow = changed("duration_us", 5, "tool.result")
    assert likeness(RIGHT, slow) is Likeness.NORMALISED


def test_ids_that_are_mixed_up_are_a_difference() -> None:
    story = calls()
    story[place(story, "model.request", 1)] = request(
        2, "user", "assistant", "tool", retry_of="request-1"
    )
    other = copy.deepcopy(story)
    other[place(story, "model.request", 1)]["payload"]["retry_of"] = "request-2"
    assert likeness(numbered(story), numbered(other)) < Likeness.NORMALISED


@pytest.mark.parametrize(
    ("path", "value", "kind"),
    [("content", "Hello?", "user.message"), ("output", "late\n", "tool.result")],
)
def test_other_words_are_the_same_decisions(path: str, value: str, kind: str) -> None:
    assert likeness(RIGHT, changed(path, value, kind)) is Likeness.DECISIONS


def test_arguments_are_compared_as_json() -> None:
    spaced = changed("tool_calls/0/arguments", '{ "command" : "date" }', "model.response")
    other = changed("tool_calls/0/arguments", '{"command":"who"}', "model.response")
    assert likeness(RIGHT, spaced) is Likeness.DECISIONS
    assert likeness(RIGHT, other) is Likeness.OUTCOME


def test_a_denied_call_is_another_decision_with_the_same_outcome() -> None:
    story = calls()
    start = place(story, "tool.start")
    story[place(story, "approval.decision")] = decision("deny")
    del story[start : start + 2]
    assert likeness(RIGHT, numbered(story)) is Likeness.OUTCOME


def test_another_reason_of_the_stop_is_different() -> None:
    other = changed("reason", "failed", "session.stop")
    assert likeness(RIGHT, other) is Likeness.DIFFERENT


def test_a_trace_without_its_end_is_different() -> None:
    assert likeness(RIGHT, RIGHT[:-1]) is Likeness.DIFFERENT
    assert likeness([], []) is Likeness.BYTES


def test_a_retry_is_another_decision() -> None:
    story = calls()
    first = place(story, "model.request")
    again = request(1, "user", request_id="request-9", attempt=2, retry_of="request-1")
    wait = event("retry.wait", "harness", request_id="request-1", attempt=1, cause="x", wait_us=1)
    story[first + 1 : place(story, "model.response")] = [failed(1), wait, again]
    assert likeness(RIGHT, numbered(story)) is Likeness.OUTCOME


@given(PLANS)
def test_any_run_repeated_is_the_same_after_normalisation(plan: Plan) -> None:
    events = [json.loads(line) for line in perform(plan).splitlines()]
    story = [other for other in other_ids(events)]
    assert likeness(events, events) is Likeness.BYTES
    assert likeness(events, story) >= Likeness.NORMALISED


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    paths[0].write_bytes(to_bytes(RIGHT))
    paths[1].write_bytes(to_bytes(changed("text", "hear.", "model.delta", 1)))
    return paths


def test_the_text_shows_the_first_divergence_and_its_causes(two: tuple[Path, Path]) -> None:
    done = run("diff", *two)
    assert done.returncode == 1
    assert done.stderr == ""
    assert done.stdout.splitlines()[0] == "same decisions"
    assert done.stdout.splitlines()[3:] == [
        "first divergence: turn 1, another event at /payload/text",
        '  A line 5: model.delta "look."',
        '      has "look."',
        '  B line 5: model.delta "hear."',
        '      has "hear."',
        '  both because of line 4: model.delta "Let me "',
        "  both because of line 3: model.request 1: 1 message",
        '  both because of line 2: user.message "What time is it?"',
        "  both because of line 1: session.start session-1 model: model",
    ]


def test_json_says_what_the_text_says(two: tuple[Path, Path]) -> None:
    found = json.loads(run("diff", "--format", "json", *two).stdout)
    assert found["verdict"] == "decisions"
    assert found["events"] == [15, 15]
    parted = found["divergence"]
    assert (parted["turn"], parted["about"], parted["pointer"]) == (1, "event", "/payload/text")
    assert parted["values"] == ["look.", "hear."]
    assert [link["line"] for link in parted["chains"][0]] == [5, 4, 3, 2, 1]


def test_the_exit_code_is_what_enough_asks_for(two: tuple[Path, Path]) -> None:
    assert run("diff", two[0], two[0], "--enough", "bytes").returncode == 0
    assert run("diff", *two, "--enough", "decisions").returncode == 0
    assert run("diff", *two, "--enough", "normalised").returncode == 1


def test_a_torn_tail_is_a_difference_in_bytes(tmp_path: Path) -> None:
    whole, torn = tmp_path / "whole", tmp_path / "torn"
    whole.write_bytes(to_bytes(RIGHT))
    torn.write_bytes(to_bytes(RIGHT) + b'{"a')
    done = run("diff", whole, torn)
    assert done.stdout.splitlines()[0] == "same after normalisation"
    assert done.stdout.splitlines()[2].endswith("(15 events, then 3 bytes without LF)")


def test_one_that_ends_early_says_nothing_more(tmp_path: Path) -> None:
    long, short = tmp_path / "long", tmp_path / "short"
    long.write_bytes(to_bytes(RIGHT))
    short.write_bytes(to_bytes(RIGHT[:-1]))
    done = run("diff", long, short)
    assert done.returncode == 1
    assert done.stdout.splitlines()[0] == "different"
    assert done.stdout.splitlines()[-1] == "  B says nothing more"


def test_standard_input_twice_is_wrong_usage() -> None:
    done = run("diff", "-", "-", data=to_bytes(RIGHT))
    assert done.returncode == 64
    assert len(done.stderr.splitlines()) == 1
