"""Sessions of other agents become right traces, and nothing of them is dropped in silence."""

from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curriculum.trace.codes import Verdict
from curriculum.trace.command_import import AGENTS, MOST_BYTES
from curriculum.trace.engines import make_engine
from curriculum.trace.foreign import (
    Answer,
    Call,
    Foreign,
    NotThisFormatError,
    Outcome,
    Said,
    Step,
    Trouble,
    epoch_of,
)
from curriculum.trace.from_claude_code import read_claude_code
from curriculum.trace.from_codex import read_codex
from curriculum.trace.from_mini_swe_agent import read_mini_swe_agent
from curriculum.trace.validate import Options, validate
from curriculum.trace.write_foreign import write_foreign
from tests.trace.commands import run

SESSIONS = Path(__file__).parent / "sessions"
CODEX = SESSIONS / "codex.jsonl"
CLAUDE = SESSIONS / "claude_code.jsonl"
MINI = SESSIONS / "mini_swe_agent.traj.json"
FILES = {"codex": CODEX, "claude-code": CLAUDE, "mini-swe-agent": MINI}
READERS = {
    "codex": read_codex,
    "claude-code": read_claude_code,
    "mini-swe-agent": read_mini_swe_agent,
}
FAST = make_engine()


def written(session: Foreign) -> bytes:
    return "".join(event.to_line() for event in write_foreign(session)).encode()


def verdict(data: bytes) -> tuple[Verdict, dict[str, int]]:
    report = validate(io.BytesIO(data).read, FAST, Options(is_strict=True))
    return report.verdict, report.codes


def told(session: Foreign, *kinds: str) -> list[dict[str, Any]]:
    events = [json.loads(line) for line in written(session).splitlines()]
    return [event["payload"] for event in events if event["type"] in kinds]


def test_every_agent_is_tested() -> None:
    assert set(FILES) == set(READERS) == set(AGENTS)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_session_becomes_a_complete_trace(agent: str) -> None:
    data = written(READERS[agent](FILES[agent].read_bytes()))
    assert verdict(data) == (Verdict.COMPLETE, {})
    sources = Counter(json.loads(line)["provenance"]["source"] for line in data.splitlines())
    assert sources["imported"] > 15
    assert set(sources) <= {"imported", "synthesized"}


@pytest.mark.parametrize("agent", AGENTS)
def test_every_beginning_of_a_session_becomes_a_complete_trace(agent: str) -> None:
    session = READERS[agent](FILES[agent].read_bytes())
    steps = session.steps
    for length in range(len(steps) + 1):
        session.steps, session.reason = steps[:length], ""
        assert verdict(written(session)) == (Verdict.COMPLETE, {}), length


# region: codex
def test_codex_answers_calls_and_results_are_paired() -> None:
    session = read_codex(CODEX.read_bytes())
    assert session.version == "0.65.0"
    assert session.model == "gpt-5-codex"
    assert [type(step) for step in session.steps] == [
        *(Said, Said, Answer, Outcome, Outcome, Answer, Outcome, Answer, Said, Answer, Trouble)
    ]
    first = session.steps[2]
    assert isinstance(first, Answer)
    assert first.text == "I will look."
    assert [call.call_id for call in first.calls] == ["call_A", "call_B"]
    assert first.usage == (1000, 40)
    results = [(step.status, step.exit_code) for step in session.steps if isinstance(step, Outcome)]
    assert results == [("completed", 0), ("failed", 1), ("completed", 0)]


def test_codex_records_that_are_not_carried_over_are_counted() -> None:
    session = read_codex(CODEX.read_bytes())
    assert session.unknown == {"record hologram": 1, "telepathy": 1}
    assert session.left_out == {
        "message developer": 1,
        "reasoning": 1,
        "agent_reasoning": 1,
        "user_message": 1,
        "agent_message": 1,
    }


def test_a_codex_turn_that_was_aborted_is_cancelled_and_its_call_unknown() -> None:
    session = read_codex(CODEX.read_bytes())
    assert told(session, "session.stop")[0]["reason"] == "cancelled"
    assert [one["status"] for one in told(session, "tool.result")][-1] == "unknown"
    assert told(session, "cancel.request") == [{"by": "user"}]


# endregion


def test_each_line_that_is_no_object_is_counted_once() -> None:
    head = CODEX.read_bytes().splitlines(keepends=True)[0]
    session = read_codex(b"no JSON\n" + head + b"[1]\n")
    assert session.unknown["a line that is no JSON object"] == 2


def test_a_codex_turn_that_was_aborted_for_no_reason_says_so() -> None:
    aborted = {"type": "event_msg", "payload": {"type": "turn_aborted"}}
    head = CODEX.read_bytes().splitlines(keepends=True)[0]
    assert read_codex(head + json.dumps(aborted).encode() + b"\n").steps == [
        Trouble("cancelled", "the turn was aborted", 0)
    ]


# region: claude code
def test_claude_code_blocks_of_one_message_are_one_answer() -> None:
    session = read_claude_code(CLAUDE.read_bytes())
    first = session.steps[1]
    assert isinstance(first, Answer)
    assert first.text == "I will read it."
    assert [call.name for call in first.calls] == ["Read", "Bash"]
    assert first.usage == (1004, 60)
    assert isinstance(session.steps[2], Outcome)
    assert session.steps[2].output == "     1→to be or not to be\n"


def test_claude_code_rejections_are_denials_and_interruptions_cancel() -> None:
    session = read_claude_code(CLAUDE.read_bytes())
    assert [one["status"] for one in told(session, "tool.result")] == [
        *("completed", "completed", "denied", "failed")
    ]
    assert [one["kind"] for one in told(session, "error")] == ["cancelled"]
    assert told(session, "session.stop")[0]["reason"] == "completed"


def test_claude_code_keeps_no_private_reasoning_and_names_what_it_does_not_know() -> None:
    session = read_claude_code(CLAUDE.read_bytes())
    assert b"private" not in written(session)
    assert session.left_out["assistant block thinking"] == 1
    assert session.left_out["sidechain record"] == 1
    assert session.unknown == {
        "user block image": 1,
        "assistant block teleport": 1,
        "record wormhole": 1,
    }


# endregion


def test_an_error_of_claude_code_s_endpoint_is_trouble_with_its_words() -> None:
    content = [{"type": "text", "text": "Overloaded"}, {"type": "odd"}]
    record = {"type": "assistant", "isApiErrorMessage": True, "message": {"content": content}}
    session = read_claude_code(json.dumps(record).encode() + b"\n")
    assert session.steps == [Trouble("model", "Overloaded\n[odd]", 0)]
    assert session.unknown == {"assistant block odd": 1}


# region: mini-swe-agent
def test_mini_swe_agent_actions_are_calls_of_bash() -> None:
    session = read_mini_swe_agent(MINI.read_bytes())
    calls = told(session, "tool.call")
    assert [json.loads(call["arguments"])["command"] for call in calls][:2] == ["ls -la", "false"]
    assert [one["exit_code"] for one in told(session, "tool.result")] == [0, 1, 0]
    assert told(session, "model.request")[0]["roles"] == ["system", "user"]
    assert told(session, "session.stop")[0]["reason"] == "completed"
    assert session.unknown == {}


def test_mini_swe_agent_of_the_first_format_and_with_tool_calls() -> None:
    old = {
        "info": {"exit_status": "LimitsExceeded"},
        "messages": [
            {"role": "user", "content": "do"},
            {"role": "assistant", "content": "so\n```bash\nls\n```"},
            {"role": "user", "content": "<returncode>2</returncode>"},
        ],
        "trajectory_format": "mini-swe-agent-1",
    }
    session = read_mini_swe_agent(json.dumps(old).encode())
    assert json.loads(told(session, "tool.call")[0]["arguments"]) == {"command": "ls"}
    assert session.steps[1].usage is None
    assert session.steps[2].exit_code == 2
    assert told(session, "session.stop")[0]["reason"] == "max-turns"
    function = {"name": "bash", "arguments": '{"command":"ls"}'}
    old["messages"][1:] = [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": function}]},
        {"role": "tool", "tool_call_id": "c1", "content": "x", "extra": {"returncode": 0}},
        {"role": "oracle", "content": "?"},
    ]
    session = read_mini_swe_agent(json.dumps(old).encode())
    assert told(session, "tool.result")[0]["call_id"] == "c1"
    assert session.unknown == {"message oracle": 1}
    assert verdict(written(session))[0] is Verdict.COMPLETE


# endregion


# region: any
IDS = st.sampled_from(["a", "b", "", "x" * 300])
TEXTS = st.sampled_from(["", "text", "\ud800", "é\u2028", "y" * 300_000])
STEPS = st.lists(
    st.one_of(
        st.builds(Said, TEXTS, st.integers(0, 10**16)),
        st.builds(
            Answer,
            TEXTS,
            st.integers(0, 10**16),
            st.lists(st.builds(Call, IDS, TEXTS, TEXTS), max_size=3),
            usage=st.sampled_from([None, (1, 2)]),
        ),
        st.builds(
            Outcome,
            IDS,
            st.sampled_from(["completed", "failed", "denied"]),
            TEXTS,
            st.just(0),
            st.sampled_from([None, 0, -9, 2**60]),
        ),
        st.builds(Trouble, st.sampled_from(["cancelled", "model"]), TEXTS, st.just(0)),
    ),
    max_size=12,
)


@given(STEPS, st.booleans(), st.sampled_from(["", "a b/c", "z" * 99]))
def test_any_steps_become_a_complete_trace(
    steps: list[Step], has_system: bool, session_id: str
) -> None:
    session = Foreign("other", "1", session_id, "model", has_system, "", steps)
    assert verdict(written(session)) == (Verdict.COMPLETE, {})


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["type", "payload", "message", "content", "role", "id", "text", "x"]),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)


@given(st.lists(JSON, max_size=4), st.sampled_from(AGENTS))
def test_any_json_is_a_session_or_refused(records: list[Any], agent: str) -> None:
    lines = FILES[agent].read_bytes() if agent != "mini-swe-agent" else b""
    data = lines + "".join(json.dumps(record) + "\n" for record in records).encode()
    if agent == "mini-swe-agent":
        document = {"messages": records, "trajectory_format": "mini-swe-agent-1.1"}
        data = json.dumps(document).encode()
    assert verdict(written(READERS[agent](data)))[0] is Verdict.COMPLETE


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"[]", b"{}\n", b'{"type":"x"}'])
def test_what_is_no_session_of_that_agent_is_refused(agent: str, data: bytes) -> None:
    with pytest.raises(NotThisFormatError):
        READERS[agent](data)


@pytest.mark.parametrize(
    ("value", "us"),
    [
        ("2026-01-01T00:00:00Z", 1_767_225_600_000_000),
        ("2026-01-01T00:00:00.5Z", 1_767_225_600_500_000),
        ("2026-01-01T02:00:00.000001234+02:00", 1_767_225_600_000_001),
        (1_767_225_600.25, 1_767_225_600_250_000),
        ("yesterday", 0),
        ("2026-13-01T00:00:00Z", 0),
        (None, 0),
        (True, 0),
        (float("nan"), 0),
    ],
)
def test_times_are_read_in_the_forms_that_agents_write(value: object, us: int) -> None:
    assert epoch_of(value) == us


# endregion


# region: command
def test_the_command_writes_the_trace_and_names_what_is_missing(tmp_path: Path) -> None:
    output = tmp_path / "trace.jsonl"
    done = run("import", "--from", "codex", CODEX, "--output", output)
    assert done.returncode == 0
    assert done.stdout == ""
    events, left_out, unknown = done.stderr.splitlines()
    assert events == "import: 27 events; redact them before you share them"
    assert left_out.startswith("import: left out: agent_message 1, agent_reasoning 1, ")
    assert unknown == "import: UNKNOWN: record hologram 1, telepathy 1"
    assert run("validate", "--strict", output).returncode == 0
    assert run("import", "--from", "codex", "-", data=CODEX.read_bytes()).stdout.encode() == (
        output.read_bytes()
    )


@pytest.mark.parametrize("words", [["--from", "codex", MINI], ["--from", "claude-code", "-"]])
def test_the_wrong_agent_is_one_line(words: list[str]) -> None:
    done = run("import", *words, data=b"{}")
    assert done.returncode == 65
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.endswith("; see --from\n")


def test_hostile_names_of_kinds_stay_on_their_line() -> None:
    record = {"type": "response_item", "payload": {"type": "\x1b[2J\n\u202e"}}
    done = run("import", "--from", "codex", "-", data=json.dumps(record).encode())
    assert done.returncode == 0
    assert len(done.stderr.splitlines()) == 2
    assert "\x1b" not in done.stderr


# endregion


def test_a_session_without_an_end_is_refused() -> None:
    done = run("import", "--from", "codex", "/dev/zero")
    assert (done.returncode, done.stdout) == (66, "")
    assert done.stderr == f"import: /dev/zero: larger than {MOST_BYTES} bytes\n"
