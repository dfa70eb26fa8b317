"""Values that few traces hold, each where it would be seen if it were taken for another."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from curriculum.trace.__main__ import main
from curriculum.trace.command_export import IDLE_LIMIT_SECONDS
from curriculum.trace.describe import describe
from curriculum.trace.diff import Story, compare
from curriculum.trace.engines import make_engine
from curriculum.trace.export_asciicast import export_asciicast
from curriculum.trace.export_atif import export_atif
from curriculum.trace.export_otel import _value
from curriculum.trace.foreign import Answer, Foreign, Outcome
from curriculum.trace.from_claude_code import read_claude_code
from curriculum.trace.from_mini_swe_agent import read_mini_swe_agent
from curriculum.trace.inputs import RefusedError, read_secrets
from curriculum.trace.machine import is_trouble
from curriculum.trace.normalise import Normaliser, decision_of
from curriculum.trace.schema import load_schema
from curriculum.trace.secret_rules import SecretRules
from curriculum.trace.series import Series
from curriculum.trace.stats import Stats
from curriculum.trace.tables import _duration
from curriculum.trace.validate import Options, validate
from curriculum.trace.write_foreign import write_foreign
from tests.trace import story
from tests.trace.commands import run
from tests.trace.outputs import long_run
from tests.trace.story import (
    Event,
    call,
    calls,
    error,
    numbered,
    place,
    response,
    result,
    to_bytes,
    user,
)

RIGHT = numbered(calls())


def judge(data: bytes, *secrets: str, engine: str = "auto") -> list[tuple[int, str, str]]:
    report = validate(io.BytesIO(data).read, make_engine(engine), Options(secrets=secrets))
    return [(found.line, found.code, found.pointer) for found in report.findings]


@pytest.mark.parametrize("secret", ["a/b/c/d", "~a/b~c", "tilde~1", "plain-one"])
def test_a_planted_secret_is_found_however_its_slashes_stand(secret: str) -> None:
    pointer = secret.replace("~", "~0").replace("/", "~1")
    for form in (secret, secret.replace("/", "\\/"), pointer):
        line = to_bytes([*RIGHT[:1]]).replace(b'"trace-1"', f'"{form}"'.encode())
        assert (1, "R05", "") in judge(line, secret), form


def test_a_secret_in_several_lines_of_a_block_is_told_of_each() -> None:
    lines = to_bytes(RIGHT).splitlines(keepends=True)
    lines[1] = lines[1].replace(b"What time", b"planted-one")
    lines[6] = lines[6].replace(b"date", b"planted-one")
    lines[13] = lines[13].replace(b"noon", b"planted-one planted-one")
    found = judge(b"".join(lines), "planted-one")
    assert [line for line, code, _ in found if code == "R05"] == [2, 7, 14]


@pytest.mark.parametrize("secret", ['"quoted-1', "a/b-secret", "sécret\u2028-1", "plain-one"])
def test_a_message_that_would_quote_a_planted_secret_has_a_mask_there(secret: str) -> None:
    story = calls()
    story[place(story, "tool.result")]["payload"]["call_id"] = secret
    report = validate(
        io.BytesIO(to_bytes(numbered(story))).read, make_engine(), Options(secrets=(secret,))
    )
    assert [found.message for found in report.findings if found.code == "T01"] == [
        'no call is "[REDACTED:canary:1]"'
    ]


def test_a_field_of_no_right_shape_is_told_and_taken_for_nothing_else() -> None:
    story = calls()
    del story[place(story, "tool.output")]
    story[place(story, "tool.result")] = {**result("unknown"), "provenance": {"source": "odd"}}
    line = place(story, "tool.result") + 1
    assert judge(to_bytes(numbered(story))) == [(line, "E01", "/provenance/source")]


def test_events_whose_ids_are_none_are_not_taken_for_one_that_comes_twice() -> None:
    odd = [{**one, "event_id": 7} if at in (3, 6) else one for at, one in enumerate(RIGHT)]
    assert judge(to_bytes(odd)) == [(4, "E01", "/event_id"), (7, "E01", "/event_id")]


def test_an_empty_key_is_a_key_to_both_engines() -> None:
    odd = [{**RIGHT[0], "": 1}, *RIGHT[1:]]
    for engine in ("fast", "plain"):
        assert judge(to_bytes(odd), engine=engine) == [(1, "E01", "/")]


def test_two_traces_whose_words_differ_part_at_the_word() -> None:
    other = numbered([RIGHT[0], user("And the date?"), *RIGHT[2:]])
    stories = Story(), Story()
    found = compare(RIGHT, other, stories)
    assert found.divergence is not None
    assert found.divergence.about == "event"
    assert [chain[0].line for chain in found.divergence.chains] == [2, 2]
    assert found.divergence.values == ("What time is it?", "And the date?")


def test_traces_that_part_before_anything_was_decided_part_in_no_turn() -> None:
    found = compare([], RIGHT, (Story(), Story()))
    assert found.divergence is not None
    assert found.divergence.turn == 0


@pytest.mark.parametrize("words", ["stats --format json", "validate --format json"])
def test_a_name_that_is_not_utf_8_can_be_read_in_json(
    words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"{tmp_path}/\udcff é.jsonl"
    Path(name).write_bytes(to_bytes(RIGHT))
    assert main([*words.split(), name]) == 0
    assert json.loads(capsys.readouterr().out)["file"] == f"{tmp_path}/\\udcff é.jsonl"
    assert main(["diff", "--format", "json", name, name]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == [f"{tmp_path}/\\udcff é.jsonl"] * 2


def test_warnings_are_counted_beyond_those_that_are_shown() -> None:
    odd = numbered([RIGHT[0], *[{**user(), "type": f"odd-{number}"} for number in range(3)]])
    report = validate(io.BytesIO(to_bytes(odd)).read, make_engine(), Options(limit=2))
    assert (len(report.warnings), report.warning_count) == (2, 3)


@pytest.mark.parametrize(
    ("us", "shown"),
    [
        *((999, "999 µs"), (1_000, "1.0 ms"), (999_949, "999.9 ms"), (1_000_000, "1.00 s")),
        *((59_000_000, "59.00 s"), (60_000_000, "1 min 00 s"), (3_599_000_000, "59 min 59 s")),
        (3_600_000_000, "1 h 00 min 00 s"),
    ],
)
def test_a_duration_has_the_unit_that_fits_it(us: int, shown: str) -> None:
    assert _duration(us) == shown


def test_no_pause_of_a_recording_is_longer_than_two_seconds() -> None:
    slow = [{**event, "elapsed_us": index * 10_000_000} for index, event in enumerate(RIGHT)]
    frames = [json.loads(line) for line in export_asciicast(slow, IDLE_LIMIT_SECONDS)][1:]
    assert [frame[0] for frame in frames] == [2, 6, 8, 10, 12, 16, 20, 22, 26, 28]


def nameless() -> list[Event]:
    """The run of a harness that does not say which model it asked."""
    events = calls()
    del events[0]["payload"]["model"]
    events[place(events, "model.response")]["payload"]["usage"] = {
        "input_tokens": 1,
        "output_tokens": 1,
    }
    return numbered(events)


def test_a_model_that_the_start_does_not_name_is_named_by_its_answers() -> None:
    steps = export_atif(nameless())["steps"]
    assert [step.get("model_name") for step in steps] == [None, "model", "model"]
    stats = Stats({})
    for event in nameless():
        stats.take(event)
    assert stats.as_data()["model"] is None
    assert stats.as_data()["models_without_price"] == {"model": 1}


def test_a_flag_of_an_export_is_a_flag() -> None:
    assert _value(True) == {"boolValue": True}
    assert _value(1) == {"intValue": "1"}
    assert _value(["a", 2]) == {"arrayValue": {"values": [_value("a"), _value(2)]}}


@pytest.mark.parametrize("kind", ["error", "model.response", "tool.result"])
def test_trouble_is_an_error_or_what_did_not_complete(kind: str) -> None:
    assert is_trouble(error()) is True
    for event in RIGHT:
        assert is_trouble(event) is False
    broken = {"type": kind, "payload": {"status": "failed"}}
    assert is_trouble(broken) is True


def test_a_turn_is_a_decision_and_what_is_measured_is_none() -> None:
    assert decision_of(user()) == ("turn",)
    plain = Normaliser().normalise(RIGHT[6])
    assert set(plain) == {"type", "actor", "caused_by", "is", "payload"}
    assert plain["payload"]["call_id"] == "call 1"
    assert plain["payload"]["request_id"] == "request 1"
    assert (plain["caused_by"], plain["is"]) == ("event 1", "event 2")


@pytest.mark.parametrize(
    ("event", "decided"),
    [
        (RIGHT[5], ("answer", "completed", ("bash", '{"command": "date"}'))),
        (RIGHT[8], ("approval", "allow")),
        (RIGHT[11], ("result", "completed")),
        (error("network"), ("error", "network")),
        (RIGHT[14], ("stop", "completed")),
        (RIGHT[6], None),
    ],
)
def test_what_was_decided_is_told_without_the_words_around_it(
    event: Event, decided: tuple[object, ...] | None
) -> None:
    assert decision_of(event) == decided


def test_a_series_of_nothing_but_zeros_is_low() -> None:
    series = Series()
    series.add(0)
    series.add(0)
    assert series.sparkline() == "▁▁"
    assert series.mean == 0.0


def test_a_secret_under_a_telling_key_is_found_by_that_rule() -> None:
    [span] = SecretRules().find("whatever it is", "api_key")
    assert (span.start, span.end, span.rule, span.number) == (0, 14, "key", 0)


def test_a_secret_that_is_no_text_is_refused() -> None:
    with pytest.raises(RefusedError, match=r"^a secret is not UTF-8$"):
        read_secrets((), ["\ud800abc"])


def test_records_of_one_unknown_kind_are_counted() -> None:
    message = {"id": "m", "role": "assistant", "content": [{"type": "tool_use"}]}
    result = {"content": [{"type": "tool_result", "content": "lost"}]}
    records = [
        {"type": "user", "message": {"content": "Hello."}},
        *[{"type": "hologram"}] * 3,
        {"type": "assistant", "message": message},
        {"type": "user", "message": result},
    ]
    session = read_claude_code("\n".join(map(json.dumps, records)).encode())
    assert session.unknown["record hologram"] == 3
    answers = [step for step in session.steps if isinstance(step, Answer)]
    outcomes = [step for step in session.steps if isinstance(step, Outcome)]
    assert [(one.call_id, one.name) for one in answers[0].calls] == [("", "")]
    assert [(one.call_id, one.output) for one in outcomes] == [("", "lost")]


def test_commands_of_a_trajectory_are_kept_as_they_were_written() -> None:
    extra = {"actions": [{"command": "echo é"}, "command", {"other": 1}]}
    document = {
        "trajectory_format": "mini-swe-agent-1.1",
        "messages": [{"role": "assistant", "content": "Look.", "extra": extra}],
    }
    session = read_mini_swe_agent(json.dumps(document).encode())
    [answer] = session.steps
    assert isinstance(answer, Answer)
    assert [one.arguments for one in answer.calls] == ['{"command": "echo é"}']


def test_a_type_that_is_no_text_is_told_at_its_place() -> None:
    odd = [*RIGHT[:1], {**RIGHT[1], "type": 7}, *RIGHT[2:]]
    for engine in ("fast", "plain"):
        assert (2, "E01", "/type") in judge(to_bytes(odd), engine=engine)


def test_statistics_of_events_without_a_start_name_no_model() -> None:
    stats = Stats()
    stats.take(RIGHT[1])
    assert stats.as_data()["model"] is None


def test_the_id_of_a_foreign_session_becomes_an_id_of_a_trace() -> None:
    [start, *_] = write_foreign(Foreign("x", session_id="a b/c" + "d" * 70))
    assert start.payload["session_id"] == "a-b-c" + "d" * 59


def test_an_answer_in_the_player_is_as_long_as_the_row() -> None:
    told = describe(response(1, "x" * 50), 10)
    assert told == f'model.response completed "{"x" * 10}"…'


def test_an_event_of_every_type_is_told_with_more_than_its_type() -> None:
    events = [event for event in long_run() if not event["type"].startswith("x.")]
    types = {rule["if"]["properties"]["type"]["const"] for rule in load_schema()["allOf"]}
    assert {event["type"] for event in events} == types
    assert [event["type"] for event in events if describe(event) == event["type"]] == []


def test_what_is_set_aside_torn_or_noticed_is_told() -> None:
    spend = {"resource": "tokens", "unit": "tokens", "spent": 3, "limit": 9}
    spent = story.event("budget.spend", "policy", **spend, remaining=2, reserved=4)
    assert describe(spent) == "budget.spend tokens: 3 of 9 tokens spent, 4 set aside, 2 left"
    closed = {"not_executed": 2, "unknown": 0}
    recover = {"session_id": "session-1", "closed": closed, "torn_bytes": 7, "notice": "a\nb"}
    told = 'session-1: 2 calls not executed, 0 unknown, 7 torn bytes "a\\nb"'
    assert (
        describe(story.event("session.recover", "harness", **recover)) == f"session.recover {told}"
    )
    nameless = story.start()
    nameless["payload"].pop("model", None)
    assert describe(nameless) == "session.start session-1"


def test_a_command_is_needed(tmp_path: Path) -> None:
    done = run()
    assert (done.returncode, done.stdout) == (64, "")
    wanted = "the following arguments are required: COMMAND; see python -m curriculum.trace --help"
    assert done.stderr == f"python -m curriculum.trace: {wanted}\n"


def test_a_trace_whose_first_line_is_cut_is_no_event_yet_or_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"rubbish")
    done = run("stats", path)
    assert done.returncode == 65
    told = "line 1: F03 not JSON at column 1: expecting value; `validate` lists it all"
    assert done.stderr == f"stats: {path}: {told}\n"


def test_an_event_of_no_shape_is_told_by_its_place(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    odd = call()
    odd["payload"]["name"] = 7
    path.write_bytes(to_bytes(numbered([*calls()[:6], odd])))
    done = run("stats", path)
    told = "line 7: E01 /payload/name: 7 is not string; `validate` lists it all"
    assert done.stderr == f"stats: {path}: {told}\n"
    path.write_bytes(b'{"type":"x.acme.note"}\n')
    assert "line 1: E01 actor is missing;" in run("stats", path).stderr
