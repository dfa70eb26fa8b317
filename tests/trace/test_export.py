"""Exports, each read back by somebody else's reader of the format, and none with a secret."""

from __future__ import annotations

import base64
import itertools
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asciinema.asciicast
import pyte
import pytest
from atif import Trajectory
from google.protobuf.json_format import ParseDict
from hypothesis import given, settings
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from curriculum.trace.export_asciicast import export_asciicast
from curriculum.trace.export_atif import export_atif
from curriculum.trace.export_otel import CONVENTIONS, export_otel
from curriculum.trace.export_perfetto import export_perfetto
from curriculum.trace.spans import spans_of
from tests.golden import GOLDEN
from tests.trace.commands import run
from tests.trace.runs import PLANS, Plan, perform
from tests.trace.story import (
    Event,
    begun,
    call,
    calls,
    delta,
    error,
    event,
    failed,
    numbered,
    place,
    response,
    result,
    stop,
    to_bytes,
)
from tests.trace.test_redact import CANARY, SHAPES, planted

STORY = numbered(calls())


def loaded(data: bytes) -> list[Event]:
    return [json.loads(line) for line in data.splitlines()]


def every_trace() -> Iterator[list[Event]]:
    for path in sorted(GOLDEN.glob("*.jsonl")):
        yield loaded(path.read_bytes())
    yield STORY
    yield STORY[:8]
    yield []


# region: spans
def test_spans_nest_and_end() -> None:
    for events in every_trace():
        for span in spans_of(events):
            assert 0 <= span.start_us <= span.end_us
            if span.parent:
                assert span.parent.start_us <= span.start_us
                assert span.end_us <= span.parent.end_us


@given(PLANS)
def test_spans_of_any_run_nest_and_each_request_and_call_is_one(plan: Plan) -> None:
    events = loaded(perform(plan))
    spans = spans_of(events)
    kinds = [one["type"] for one in events]
    counted = {kind: sum(span.kind == kind for span in spans) for kind in ("request", "call")}
    assert counted == {"request": kinds.count("model.request"), "call": kinds.count("tool.call")}
    assert sum(span.kind == "turn" for span in spans) == kinds.count("user.message")
    for span in spans:
        assert span.failed != "unfinished"
        assert span.parent is None or span.end_us <= span.parent.end_us


def test_the_time_between_two_turns_belongs_to_neither() -> None:
    late = numbered([*calls()[:-1], *calls()[1:3]])
    for one in late[14:]:
        one["elapsed_us"] += 60_000_000
    first, second = [span for span in spans_of(late) if span.kind == "turn"]
    assert first.end_us == 13_000
    assert second.start_us == 60_014_000


def test_what_is_open_at_the_end_is_unfinished() -> None:
    spans = {span.kind: span for span in spans_of(STORY[:8])}
    assert spans["call"].failed == spans["turn"].failed == spans["session"].failed == "unfinished"
    assert spans["request"].failed == ""


def test_without_a_start_a_request_is_of_the_model_that_answered() -> None:
    [request, again] = [span for span in spans_of(STORY[1:]) if span.kind == "request"]
    assert request.facts["model"] == again.facts["model"] == "model"


# endregion


# region: otel
def otel(events: list[Event], with_content: bool = False) -> list[Any]:
    """The spans as opentelemetry-proto reads them."""
    document = json.loads(json.dumps(export_otel(events, with_content)))
    for span in document["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        # OTLP's JSON has ids as hex, where protobuf's own JSON has base64.
        for key in ("traceId", "spanId", "parentSpanId"):
            if key in span:
                span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()
    request = ParseDict(document, ExportTraceServiceRequest())
    [of_resource] = request.resource_spans
    [of_scope] = of_resource.scope_spans
    assert of_scope.schema_url == f"https://opentelemetry.io/schemas/{CONVENTIONS}"
    return list(of_scope.spans)


def attributes(span: Any) -> dict[str, Any]:
    found = {}
    for one in span.attributes:
        field = one.value.WhichOneof("value")
        found[one.key] = getattr(one.value, field)
    return found


def test_otlp_is_read_by_the_official_messages() -> None:
    for events in every_trace():
        spans = otel(events, True)
        ids = {span.span_id for span in spans}
        assert len(ids) == len(spans)
        assert {len(span.trace_id) for span in spans} <= {16}
        for span in spans:
            assert len(span.span_id) == 8
            assert span.start_time_unix_nano <= span.end_time_unix_nano
            assert not span.parent_span_id or span.parent_span_id in ids


def test_spans_have_the_names_and_attributes_of_the_conventions() -> None:
    session, turn, chat, tool, again = otel(STORY)
    assert (session.name, session.kind) == ("session", 1)
    assert turn.name == "invoke_agent curriculum"
    assert (chat.name, chat.kind) == ("chat model", 3)
    assert attributes(chat)["gen_ai.operation.name"] == "chat"
    assert attributes(chat)["gen_ai.request.model"] == "model"
    assert attributes(chat)["gen_ai.conversation.id"] == "session-1"
    assert tool.name == "execute_tool bash"
    assert attributes(tool)["gen_ai.tool.call.id"] == "call-1"
    names = [one.name for one in tool.events]
    assert names[:3] == [
        "curriculum.approval.request",
        "curriculum.approval.decision",
        "curriculum.tool.start",
    ]
    reasons = [attributes(one)["gen_ai.response.finish_reasons"].values for one in (chat, again)]
    assert [[value.string_value for value in one] for one in reasons] == [["tool_call"], ["stop"]]
    assert chat.start_time_unix_nano == 1_767_225_600_002_000_000
    assert chat.end_time_unix_nano == 1_767_225_600_005_000_000


def test_usage_and_failures_are_attributes() -> None:
    story = calls()
    usage = {"input_tokens": 7, "output_tokens": 3}
    story[place(story, "model.response")]["payload"]["usage"] = usage
    story[place(story, "tool.result")] = result("failed", exit_code=2)
    last = place(story, "model.response", 1)
    story[last:] = [failed(2), error("model"), stop("failed")]
    session, turn, chat, tool, broken = otel(numbered(story))
    assert attributes(chat)["gen_ai.usage.input_tokens"] == 7
    assert attributes(chat)["gen_ai.usage.output_tokens"] == 3
    assert attributes(tool)["error.type"] == "failed"
    assert attributes(tool)["curriculum.exit_code"] == 2
    assert attributes(broken)["error.type"] == "failed"
    assert attributes(turn)["error.type"] == "model"
    assert [one.status.code for one in (session, turn, chat, tool, broken)] == [2, 2, 0, 2, 2]


def test_content_is_there_only_when_asked_for() -> None:
    without = json.dumps(export_otel(STORY, False)) + json.dumps(export_perfetto(STORY, False))
    for text in ("What time", "look.", "date", "noon"):
        assert text not in without
    chat = otel(STORY, True)[4]
    given_messages = json.loads(attributes(chat)["gen_ai.input.messages"])
    assert [message["role"] for message in given_messages] == ["user", "assistant", "tool"]
    assert given_messages[2]["parts"][0]["response"] == "noon\n"
    [answer] = json.loads(attributes(chat)["gen_ai.output.messages"])
    assert answer == {
        "role": "assistant",
        "parts": [{"type": "text", "content": "It is noon."}],
        "finish_reason": "stop",
    }


# endregion


# region: perfetto
def test_no_two_spans_of_a_track_cross() -> None:
    two = [call(), call()]
    two[1]["payload"]["call_id"] = "call-2"
    proposals = [{k: one["payload"][k] for k in ("call_id", "name", "arguments")} for one in two]
    story = calls()
    story[5:12] = [response(1, "", *proposals), *two, begun(), begun("call-2")]
    story[10:10] = [result(), result(call_id="call-2")]
    for events in [*every_trace(), numbered(story)]:
        document = export_perfetto(events, True)
        assert json.loads(json.dumps(document)) == document
        tracks: dict[int, list[tuple[int, int]]] = {}
        for one in document["traceEvents"]:
            assert one["ph"] in ("X", "M", "i")
            assert isinstance(one["pid"], int)
            assert isinstance(one["tid"], int)
            if one["ph"] == "X":
                tracks.setdefault(one["tid"], []).append((one["ts"], one["ts"] + one["dur"]))
        for spans in tracks.values():
            for begin, end in spans:
                assert not any(begin < b < end < e for b, e in spans)
        named = {one["tid"] for one in document["traceEvents"] if one["name"] == "thread_name"}
        assert set(tracks) <= named


# endregion


# region: asciicast
def cast(events: list[Event]) -> tuple[dict[str, Any], list[Any]]:
    """The recording as asciinema's own reader reads it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.cast"
        path.write_text("".join(f"{line}\n" for line in export_asciicast(events, 2.0)), "utf-8")
        with asciinema.asciicast.open_from_url(str(path)) as read:
            return read.v2_header, list(read.events())


def test_a_recording_is_read_by_asciinema_and_shows_the_run() -> None:
    header, frames = cast(STORY)
    assert header["version"] == 2
    screen = pyte.Screen(header["width"], header["height"])
    stream = pyte.Stream(screen)
    for _, kind, text in frames:
        assert kind == "o"
        stream.feed(text)
    shown = [line.rstrip() for line in screen.display]
    assert shown[:2] == ["> What time is it?", "Let me look."]
    assert "noon" in shown
    assert "It is noon." in shown
    times = [at for at, _, _ in frames]
    assert times == sorted(times)


def test_a_recording_has_no_pause_longer_than_its_limit() -> None:
    slow = numbered(calls())
    for one in slow[7:]:
        one["elapsed_us"] += 3_600_000_000
    _, frames = cast(slow)
    gaps = [there[0] - here[0] for here, there in itertools.pairwise(frames)]
    assert 1.9 < max(gaps) < 2.1


def test_nothing_of_a_trace_acts_on_the_terminal_that_plays_it() -> None:
    story = calls()
    story[1]["payload"]["content"] = "\x1b[2J\x1b]0;x\x07"
    story[3]["payload"]["text"] = "\x1b[2J\r"
    _, frames = cast(numbered(story))
    raw = "".join(text for _, _, text in frames)
    for own in ("\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\r\n"):
        raw = raw.replace(own, "")
    assert raw.isprintable(), ascii(raw)


# endregion


# region: atif
def test_a_trajectory_validates_with_the_format_s_models() -> None:
    for events in every_trace():
        document = json.loads(json.dumps(export_atif(events)))
        Trajectory.model_validate(document)


@settings(max_examples=50)
@given(PLANS)
def test_a_trajectory_of_any_run_validates(plan: Plan) -> None:
    document = json.loads(json.dumps(export_atif(loaded(perform(plan)))))
    Trajectory.model_validate(document)


def test_a_trajectory_says_who_said_what_and_what_came_of_it() -> None:
    document = export_atif(STORY)
    assert [step["source"] for step in document["steps"]] == ["user", "agent", "agent"]
    step = document["steps"][1]
    assert step["tool_calls"][0]["arguments"] == {"command": "date"}
    assert step["tool_calls"][0]["extra"] == {"approval": {"decision": "allow", "by": "user"}}
    [found] = step["observation"]["results"]
    assert (found["source_call_id"], found["content"]) == ("call-1", "noon\n")
    assert document["extra"] == {"stop_reason": "completed"}


def test_arguments_that_are_no_object_are_kept_as_text() -> None:
    story = calls()
    story[5]["payload"]["tool_calls"][0] = {"call_id": "c", "name": "n", "arguments": "{broken"}
    [made] = export_atif(numbered(story))["steps"][1]["tool_calls"]
    assert made["arguments"] == {}
    assert made["extra"] == {"raw_arguments": "{broken"}


# endregion


# region: command
@pytest.mark.parametrize("format", ["otel", "perfetto", "asciicast", "atif"])
def test_every_export_is_redacted(format: str, tmp_path: Path) -> None:
    secrets, trace, output = (tmp_path / name for name in ("secrets", "trace", "out"))
    secrets.write_text(CANARY, "utf-8")
    for secret in (CANARY, SHAPES["github"]):
        trace.write_bytes(to_bytes(planted(secret)))
        words = ["--to", format, "--content", "--secret-file", secrets, "--output", output]
        done = run("export", trace, *words)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        text = output.read_text("utf-8")
        assert "[REDACTED:" in text
        for form in (secret[:12], secret[-6:], json.dumps(secret)[1:-1][-8:]):
            assert form not in text


def test_the_same_trace_gives_the_same_bytes() -> None:
    words = ["export", "--to", "otel", GOLDEN / "s04_approvals.jsonl"]
    assert run(*words).stdout == run(*words, env={"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"}).stdout


def test_a_format_is_asked_for() -> None:
    done = run("export", GOLDEN / "s04_approvals.jsonl")
    assert done.returncode == 64
    assert len(done.stderr.splitlines()) == 1


def test_events_without_a_start_are_exported_as_they_are() -> None:
    story = numbered([delta(1, 0, "x"), event("x.acme.note", "harness")])
    for make in (export_otel, export_perfetto):
        assert json.dumps(make(story, True))
    Trajectory.model_validate(json.loads(json.dumps(export_atif(story))))


# endregion
