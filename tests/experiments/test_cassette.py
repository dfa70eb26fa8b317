"""A live run is recorded without its key, and played back as the same answers."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from curriculum.core.errors import ModelError
from curriculum.core.loop import AgentRunner
from curriculum.core.messages import Message, ModelTurn, ToolCall, Usage
from curriculum.core.model import ScriptedModel
from curriculum.experiments.cassette import CassetteModel, RecordingModel, read_cassette
from curriculum.experiments.perform import perform
from curriculum.experiments.settings import ExperimentError
from curriculum.providers.scripted_endpoint import ScriptedEndpoint
from tests.experiments.parts import command, experiment

KEY = "sk-test-5f1d0c9b7e"
LIVE = """
name = "live"
question = "What does it say?"
[settings.model]
kind = "live"
base_url = "{url}"
api = "{api}"
key_env = "TEST_KEY"
"""


def scenario(*texts: str, **more: object) -> dict[str, object]:
    arguments = json.dumps({"item": 1, **more})
    calls = [{"call_id": "c1", "name": "look", "arguments": arguments}]
    first = {"answer": {"pieces": ["I ", "look. ", texts[0][:16], texts[0][16:]], "calls": calls}}
    return {"exchanges": [first, *({"answer": {"text": text}} for text in texts[1:])]}


@pytest.mark.parametrize("api", ["responses", "chat"])
def test_a_live_run_is_recorded_and_played_back_with_the_same_events(
    api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    texts = (f"Your key is {KEY}.", f"Done with {KEY}.")
    with ScriptedEndpoint(scenario(*texts, note=KEY)) as server:
        live = experiment(LIVE.format(url=server.url, api=api))
        outcome = perform(live.tasks()[0], is_recorded=True)
        assert outcome.error == ""
        assert KEY in server.requests[0].headers["authorization"]
    assert outcome.cassette.count(b"\n") == 3
    assert KEY.encode() not in outcome.cassette
    assert outcome.cassette.count(b"[REDACTED:api-key:1]") >= 4
    assert KEY.encode() not in outcome.trace


@pytest.mark.parametrize("api", ["responses", "chat"])
def test_a_fault_that_says_the_key_back_is_recorded_without_it(
    api: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    body = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}})
    with ScriptedEndpoint({"exchanges": [{"status": 401, "send": [{"raw": body}]}]}) as server:
        live = experiment(LIVE.format(url=server.url, api=api))
        outcome = perform(live.tasks()[0], is_recorded=True)
    assert "[REDACTED:api-key:1]" in outcome.error
    for text in (outcome.error.encode(), outcome.cassette, outcome.trace):
        assert KEY.encode() not in text


@pytest.mark.parametrize("api", ["responses", "chat"])
def test_what_is_played_back_is_marked_as_recorded_and_otherwise_the_same(
    api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    with ScriptedEndpoint(scenario("All is well.", "Done.")) as server:
        live = experiment(LIVE.format(url=server.url, api=api)).tasks()[0]
        recorded = perform(live, is_recorded=True)
    tape = tmp_path / "tape.jsonl"
    tape.write_bytes(recorded.cassette)
    again = LIVE.partition("kind")[0] + f'kind = "recorded"\ncassette = "{tape}"\n'
    played = perform(experiment(again).tasks()[0])
    before, after = (
        [json.loads(x) for x in t.splitlines()] for t in (recorded.trace, played.trace)
    )
    assert [(e["type"], e["payload"]) for e in after] == [(e["type"], e["payload"]) for e in before]
    assert {event["provenance"]["source"] for event in before} == {"live"}
    assert {event["provenance"]["source"] for event in after} == {"recorded"}


def test_errors_usage_and_opaque_items_survive_the_cassette(tmp_path: Path) -> None:
    fault = ModelError("no")
    fault.retryable, fault.retry_after_seconds = True, 2.5
    turn = ModelTurn("hi", (ToolCall("c", "look"),), ("h", "i"), True, Usage(3, 4), {"a": [1]})
    lines: list[str] = []
    model = RecordingModel(ScriptedModel([fault, turn]), lines.append)
    ask = [Message("user", "go")]
    with pytest.raises(ModelError):
        list(model.stream(ask, []))
    assert list(model.stream(ask, []))[:2] == ["h", "i"]
    tape = tmp_path / "tape.jsonl"
    tape.write_text("".join(lines))
    player = CassetteModel(read_cassette(str(tape)))
    with pytest.raises(ModelError, match=r"^no$") as caught:
        list(player.stream(ask, []))
    assert (caught.value.retryable, caught.value.retry_after_seconds) == (True, 2.5)
    *pieces, played = player.stream(ask, [])
    assert pieces == ["h", "i"]
    assert played == ModelTurn("hi", (ToolCall("c", "look"),), (), True, Usage(3, 4), {"a": [1]})


def test_another_request_than_the_recorded_one_is_refused(tmp_path: Path) -> None:
    lines: list[str] = []
    list(RecordingModel(ScriptedModel([ModelTurn("a")]), lines.append).stream([], []))
    tape = tmp_path / "tape.jsonl"
    tape.write_text("".join(lines))
    result = AgentRunner(CassetteModel(read_cassette(str(tape)))).run("something else")
    assert result.stop_reason == "failed"
    assert "not the one that was recorded" in str(result.error)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "empty"),
        (b"\xff", "not UTF-8"),
        (b"[]\n", "line 1 is no line of a cassette"),
        (b'{"cassette_version":"9"}\n', "version '9'"),
        (b'{"cassette_version":"0.1"}\n{"request":"x"}\n', "line 2 is no line"),
        (b'{"cassette_version":"0.1"}\n{"request":"x","items":[{"turn":1}]}\n', "line 2"),
        (b'{"cassette_version":"0.1"}\n{"request":"x","items":[{"error":{"kind":"E"}}]}\n', "2"),
    ],
)
def test_a_file_that_is_no_cassette_is_refused_in_one_line(
    content: bytes, told: str, tmp_path: Path
) -> None:
    tape = tmp_path / "tape.jsonl"
    tape.write_bytes(content)
    with pytest.raises(ExperimentError) as caught:
        read_cassette(str(tape))
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_cassette_is_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (str(tmp_path / "pipe"), "/dev/zero"):
        with pytest.raises(ExperimentError, match="Not a regular file; record a cassette first"):
            read_cassette(path)


def test_a_live_experiment_without_its_key_is_refused_before_any_run(tmp_path: Path) -> None:
    file = tmp_path / "live.toml"
    file.write_text(LIVE.format(url="http://127.0.0.1:9/v1", api="chat"))
    ended = command("run", str(file), "--out", str(tmp_path / "out"))
    assert ended.returncode == 65
    assert ended.stderr == (
        "experiments: model.key_env: the variable TEST_KEY is not set; export it\n"
    )
    assert not (tmp_path / "out").exists()


def test_the_command_records_a_live_run_and_plays_its_cassette_without_a_network(
    tmp_path: Path,
) -> None:
    file, live, played = tmp_path / "live.toml", tmp_path / "live", tmp_path / "played"
    with ScriptedEndpoint(scenario(f"Your key is {KEY}.", "Done.")) as server:
        file.write_text(LIVE.format(url=server.url, api="responses"))
        ended = command("run", str(file), "--out", str(live), "--record", TEST_KEY=KEY)
    assert (ended.returncode, ended.stderr) == (0, "")
    for path in live.rglob("*"):
        assert path.is_dir() or KEY.encode() not in path.read_bytes()
    again = tmp_path / "again.toml"
    tape = "live/cassettes/live-001-001.jsonl"
    for number, kind in enumerate(
        (f'cassette = "{tape}"\n', f'[matrix.model]\ncassette = ["{tape}"]\n')
    ):
        again.write_text(LIVE.partition("kind")[0] + 'kind = "recorded"\n' + kind)
        folder = played / str(number)
        ended = command("run", str(again), "--out", str(folder))
        assert (ended.returncode, ended.stderr) == (0, "")
        (row,) = (json.loads(line) for line in (folder / "rows.jsonl").read_bytes().splitlines())
        assert (row["stop"], row["requests"], row["calls"]) == ("completed", 2, 1)
        assert str(tmp_path) not in (folder / "report.html").read_text()


TAPE = '{"cassette_version":"0.1"}\n'
PLAY = LIVE.partition("kind")[0] + 'kind = "recorded"\n'


def tape_of(path: Path, steps: int) -> None:
    """A cassette of a run of so many steps."""
    scripted = experiment(LIVE.partition("kind")[0] + f"steps = {steps}\n")
    path.write_bytes(perform(scripted.tasks()[0], is_recorded=True).cassette)


@pytest.mark.parametrize("where", ["cassette = {}\n", "[matrix.model]\ncassette = [{}]\n"])
def test_results_of_a_cassette_that_has_changed_are_not_told_as_current(
    where: str, tmp_path: Path
) -> None:
    file, out, tape = tmp_path / "play.toml", tmp_path / "out", tmp_path / "a.jsonl"
    file.write_text(PLAY + where.format('"a.jsonl"'))
    tape_of(tape, 1)
    assert command("run", str(file), "--out", str(out)).returncode == 0
    again = command("run", str(file), "--out", str(out))
    assert (again.returncode, "1 of 1 runs are done already" in again.stderr) == (0, True)
    tape_of(tape, 2)
    for ask in ("run", "report"):
        ended = command(ask, str(file), "--out", str(out))
        assert (ended.returncode, ended.stdout) == (73, "")
        assert "another version of this one; give another --out" in ended.stderr
    tape.unlink()
    ended = command("report", str(file), "--out", str(out))
    assert ended.returncode == 66
    assert ended.stderr == (
        f"experiments: {tape}: No such file or directory; record a cassette first\n"
    )


def test_a_line_of_a_cassette_ends_at_lf_alone(tmp_path: Path) -> None:
    said = "one\u2028two\u2029three\u0085four"
    turn = {"turn": {"content": said, "tool_calls": [], "stop": True}}
    line = json.dumps({"request": "x", "items": [turn]}, ensure_ascii=False)
    tape = tmp_path / "tape.jsonl"
    for ending in ("\n", "\r\n"):
        tape.write_bytes((TAPE + line + "\n").replace("\n", ending).encode())
        assert [answer["items"] for answer in read_cassette(str(tape))] == [[turn]]
    tape.write_text(TAPE + line)
    assert len(read_cassette(str(tape))) == 1
