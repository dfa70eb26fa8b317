"""The scripted endpoint does what a scenario says, or says what is wrong with the scenario."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from curriculum.core.errors import RunError
from curriculum.core.messages import Message
from curriculum.providers.endpoint import Endpoint
from curriculum.providers.responses import ResponsesModel
from curriculum.providers.scenario import ScenarioError, load_scenario, scenario_names
from curriculum.providers.scripted_endpoint import ScriptedEndpoint, main
from tests.golden import ROOT
from tests.providers.conftest import Serve
from tests.providers.wires import endpoint_of

GO = [Message("user", "go")]
MODULE = "curriculum.providers.scripted_endpoint"


def post(url: str, body: object, path: str = "/responses") -> tuple[int, dict[str, str], bytes]:
    """A request by the standard library's client: status, headers, body."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=60)
    try:
        connection.request("POST", parts.path + path, json.dumps(body))
        answer = connection.getresponse()
        return answer.status, dict(answer.headers), answer.read()
    finally:
        connection.close()


def test_steps_are_sent_to_the_byte(serve: Serve) -> None:
    steps = [
        {"raw": ": hi \u00fc\r\n"},
        {"event": {"type": "a", "n": 1}},
        {"event": {"n": 2}},
        {"event": {"type": "a"}, "name": "b"},
        {"event": {"type": "a"}, "name": ""},
        {"base64": "/wA="},
    ]
    expected = (
        b': hi \xc3\xbc\r\nevent: a\ndata: {"type":"a","n":1}\n\ndata: {"n":2}\n\n'
        b'event: b\ndata: {"type":"a"}\n\ndata: {"type":"a"}\n\n\xff\x00'
    )
    for extra in ({}, {"bytes_at_once": 1}):
        status, headers, body = post(serve({"send": steps, **extra}).url, {})
        assert (status, headers["content-type"], body) == (200, "text/event-stream", expected)


def test_status_and_headers_are_the_ones_asked_for(serve: Serve) -> None:
    exchange = {"status": 418, "headers": {"Retry-After": "2", "Content-Type": "text/x"}}
    status, headers, body = post(serve({**exchange, "send": [{"raw": "tea"}]}).url, {})
    assert (status, headers["retry-after"], headers["content-type"]) == (418, "2", "text/x")
    assert body == b"tea"


def test_a_gate_opens_before_or_after_it_is_reached(serve: Serve) -> None:
    server = serve({"send": [{"raw": "a"}, {"gate": "x"}, {"raw": "b"}]}, {"send": [{"gate": "x"}]})
    assert not server.is_open("x")
    server.open("x")
    assert post(server.url, {})[2] == b"ab"
    assert post(server.url, {})[2] == b""


def test_a_stall_passes(serve: Serve) -> None:
    assert post(serve({"send": [{"stall": 0.01}, {"raw": "a"}]}).url, {})[2] == b"a"


@pytest.mark.parametrize("step", [{"cut": True}, {"reset": True}])
def test_an_answer_that_is_cut_is_not_whole(serve: Serve, step: dict[str, Any]) -> None:
    with pytest.raises((http.client.IncompleteRead, ConnectionResetError)):
        post(serve({"send": [{"raw": "a"}, step, {"raw": "b"}]}).url, {})


def test_a_request_that_is_not_the_one_expected_is_refused_and_noted(serve: Serve) -> None:
    wanted = {"model": "m", "input": [{"role": "user"}], "deep": {"a": [1, {"b": 2}]}}
    right = {
        "model": "m",
        "input": [{"role": "user", "x": 1}],
        "deep": {"a": [1, {"b": 2, "c": 3}]},
    }
    cases: list[tuple[dict[str, Any], object, str]] = [
        ({"body": wanted}, right, ""),
        ({"body": wanted}, {**right, "model": "n"}, "body.model should be 'm', not 'n'"),
        ({"body": wanted}, {"model": "m"}, "body.input is missing"),
        ({"body": wanted}, {**right, "input": []}, "body.input should have 1 entries"),
        ({"body": wanted}, {**right, "input": "x"}, "body.input should have 1 entries"),
        ({"body": wanted}, {**right, "deep": 1}, "body.deep should be an object, not 1"),
        ({"body": wanted}, {**right, "deep": {"a": [1, {"b": 3}]}}, "body.deep.a[1].b should be 2"),
        ({"lacks": ["store"]}, {"store": False}, "body.store should not be there"),
        ({"path": "/v1/other"}, {}, "path should be '/v1/other'"),
        ({"headers": {"X-A": "1"}}, {}, "headers.x-a is missing"),
    ]
    for expect, body, problem in cases:
        server = serve({"expect": expect, "send": [{"raw": "ok"}]})
        status, _, said = post(server.url, body)
        assert status == (400 if problem else 200)
        assert problem in said.decode()
        assert len(server.problems) == bool(problem)


def test_a_request_too_many_is_refused_and_noted(serve: Serve) -> None:
    server = serve({"send": []})
    assert post(server.url, {})[0] == 200
    status, _, said = post(server.url, {})
    assert (status, server.problems) == (400, ["request 2: the scenario has only 1 exchanges"])
    assert b"the scenario has only 1 exchanges" in said


def test_models_can_be_listed_without_using_an_exchange(serve: Serve) -> None:
    server = serve("text")
    parts = urlsplit(server.url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=60)
    connection.request("GET", "/v1/models")
    assert json.loads(connection.getresponse().read())["data"][0]["id"] == "scripted"
    connection.close()
    assert server.requests == []


def nested(depth: int) -> dict[str, Any]:
    """An object in an object in an object."""
    return {"x": nested(depth - 1)} if depth else {}


WRONG: list[tuple[object, str]] = [
    ([], r'must be {"exchanges": \[\.\.\.\]}'),
    ({}, "must be"),
    ({"exchanges": 5}, "must be"),
    ({"exchanges": [5]}, "exchange 1: must be an object"),
    ({"exchanges": [{}, {"sned": []}]}, "exchange 2: unknown 'sned'; known are"),
    ({"exchanges": [{"status": "200"}]}, "exchange 1: status has the wrong type"),
    ({"exchanges": [{"status": True}]}, "exchange 1: status has the wrong type"),
    ({"exchanges": [{"send": [5]}]}, "exchange 1, step 1: must be an object"),
    ({"exchanges": [{"send": [{}]}]}, "exchange 1, step 1: must be one of"),
    ({"exchanges": [{"send": [{"raw": "a", "cut": True}]}]}, "step 1: must be one of"),
    ({"exchanges": [{"send": [{"raw": "a", "name": "b"}]}]}, "step 1: must be one of"),
    ({"exchanges": [{"send": [{"base64": "?"}]}]}, "step 1: base64 cannot be decoded"),
    ({"exchanges": [{"send": [], "answer": {}}]}, "has both answer and send"),
    ({"exchanges": [{"line_end": "\t"}]}, "line_end must be one of"),
    ({"exchanges": [{"bytes_at_once": 0}]}, "bytes_at_once must be at least 1"),
    ({"exchanges": [{"answer": {"texts": ""}}]}, "exchange 1, answer: unknown 'texts'"),
    ({"exchanges": [{"expect": {"boby": {}}}]}, "exchange 1, expect: unknown 'boby'"),
    ({"exchanges": [{"answer": {"calls": [{"name": "x"}]}}]}, "answer, call 1: call_id is missing"),
    ({"exchanges": [{"status": 99}]}, "exchange 1: status must be from 100 to 999"),
    ({"exchanges": [{"status": 10**30}]}, "exchange 1: status must be from 100 to 999"),
    ({"exchanges": [{"headers": {"x-a": "\u20ac"}}]}, "the header x-a must be one line of Latin-1"),
    ({"exchanges": [{"headers": {"x-a": "1\r\nx-b: 2"}}]}, "the header x-a must be one line"),
    ({"exchanges": [{"headers": {"x-a": 1}}]}, "the header x-a must be text"),
    ({"exchanges": [{"headers": {"x\u20ac": ""}}]}, "no header can have the name"),
    ({"exchanges": [{"headers": {"x a": ""}}]}, 'no header can have the name "x a"'),
    ({"exchanges": [{"headers": {"": ""}}]}, 'no header can have the name ""'),
    ({"exchanges": [{"expect": {"headers": {"x": 1}}}]}, "expect: the header x must be text"),
    ({"exchanges": [{"expect": {"lacks": [["x"]]}}]}, "expect: lacks must be texts"),
    ({"exchanges": [{"answer": {"pieces": ["x", 1]}}]}, "answer: pieces must be texts"),
    ({"exchanges": [{"send": [{"stall": -1}]}]}, "step 1: stall must be from 0 to 86400"),
    ({"exchanges": [{"send": [{"stall": 10**400}]}]}, "step 1: stall must be from 0 to 86400"),
    ({"exchanges": [{"send": [{"stall": float("nan")}]}]}, "step 1: stall must be from 0 to"),
    ({"exchanges": [{"send": [{"event": {"type": "a\nb"}}]}]}, "name of an event must be on one"),
    ({"exchanges": [{"send": [{"event": {}, "name": "a\rb"}]}]}, "name of an event must be on one"),
    ({"exchanges": [{"expect": {"body": nested(200)}}]}, "nested deeper than 100"),
    ({"exchanges": [{"send": [{"event": nested(200)}]}]}, "nested deeper than 100"),
]


@pytest.mark.parametrize(("data", "said"), WRONG)
def test_a_scenario_that_cannot_be_played_is_refused_in_one_line(
    data: object, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "scenario.json"
    path.write_text(json.dumps(data))
    with pytest.raises(ScenarioError, match=said):
        load_scenario(path)
    assert main([str(path)]) == 2
    shown = capsys.readouterr()
    assert re.search(said, shown.err)
    assert (shown.out, shown.err.count("\n")) == ("", 1)


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ({"headers": {1: "x"}}, "the names of fields must be texts"),
        ({"send": [{"event": {"x": b"y"}}]}, "holds bytes, which is no JSON"),
        ({"expect": {"body": {"x": {1}}}}, "holds set, which is no JSON"),
    ],
)
def test_data_that_no_file_could_hold_is_refused(field: dict[str, Any], said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        ScriptedEndpoint({"exchanges": [field]})


def test_the_largest_header_that_can_be_sent_is_sent(serve: Serve) -> None:
    exchange = {"status": 999, "headers": {"x-a": "\xff\x80"}, "send": [{"raw": "."}]}
    status, headers, _ = post(serve(exchange).url, {})
    assert (status, headers["x-a"]) == (999, "\xff\x80")


@pytest.mark.parametrize("length", ["\xb2", "9" * 5000, "-1", "x"])
def test_a_length_that_is_none_is_no_fault_of_the_endpoint(
    serve: Serve, capfd: pytest.CaptureFixture[str], length: str
) -> None:
    server = serve({"send": []})
    with closing(http.client.HTTPConnection(urlsplit(server.url).netloc)) as connection:
        connection.putrequest("POST", "/v1/responses")
        connection.putheader("content-length", length.encode("latin-1"))
        connection.endheaders()
        assert connection.getresponse().status == 400
    assert capfd.readouterr().err == ""


def test_a_request_that_is_nested_too_deeply_is_no_json(
    serve: Serve, capfd: pytest.CaptureFixture[str]
) -> None:
    server = serve({"send": []})
    with closing(http.client.HTTPConnection(urlsplit(server.url).netloc)) as connection:
        connection.request("POST", "/v1/responses", b"[" * 100_000)
        assert b"the body is no JSON" in connection.getresponse().read()
    assert capfd.readouterr().err == ""


def test_a_scenario_is_a_file_of_some_size(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (str(tmp_path / "pipe"), "/dev/zero"):
        assert main([path]) == 2
        assert f"{path}: Not a regular file; give a file or one of:" in capsys.readouterr().err
    assert main(["no\x1b[31m/such"]) == 2
    assert "no\\x1b[31m/such: No such file" in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000])
def test_a_file_that_is_no_json_is_refused_in_one_line(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "scenario.json"
    path.write_bytes(content)
    assert main([str(path)]) == 2
    shown = capsys.readouterr().err
    assert "no JSON" in shown
    assert shown.count("\n") == 1


def test_a_name_that_is_none_and_a_port_that_is_taken_are_told(
    capsys: pytest.CaptureFixture[str], serve: Serve, tmp_path: Path
) -> None:
    assert main(["no-such"]) == 2
    assert "No such file or directory; give a file or one of:" in capsys.readouterr().err
    assert main([str(tmp_path)]) == 2
    assert "Is a directory" in capsys.readouterr().err
    port = str(urlsplit(serve("text").url).port)
    assert main(["text", "--port", port]) == 2
    assert f"port {port}" in capsys.readouterr().err
    assert main(["text", "--port", "99999"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_command_prints_its_url_and_serves_until_interrupted() -> None:
    run = subprocess.Popen(
        [sys.executable, "-m", MODULE, "text"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert run.stdout is not None
    url = run.stdout.readline().strip()
    turn = ResponsesModel(Endpoint(url, "test-key"), "scripted").respond(GO, ())
    assert turn.content == "Hello from the scripted endpoint."
    run.send_signal(signal.SIGINT)
    assert run.communicate(timeout=60) == ("", "")
    assert run.returncode == 0


def test_the_packaged_scenarios_can_be_played() -> None:
    assert {"text", "tool-call", "failures"} <= set(scenario_names())
    for name in scenario_names():
        scenario = load_scenario(name)
        assert scenario["about"]
        assert scenario["exchanges"]


def test_every_failure_of_the_packaged_scenario_is_one_and_then_it_works() -> None:
    exchanges = load_scenario("failures")["exchanges"]
    with ScriptedEndpoint("failures") as server:
        kinds = []
        for exchange in exchanges[:-1]:
            is_silent = any("stall" in step for step in exchange["send"])
            patience = {"silence_seconds": 0.3} if is_silent else {}
            model = ResponsesModel(endpoint_of(server, **patience), "scripted")
            with pytest.raises(RunError) as caught:
                model.respond(GO, ())
            kinds.append(type(caught.value).__name__)
        model = ResponsesModel(endpoint_of(server), "scripted")
        assert model.respond(GO, ()).content == "All is well again."
    assert set(kinds) == {
        "AuthenticationError",
        "ContextOverflowError",
        "ModelError",
        "ProtocolError",
        "RateLimitError",
        "TransientModelError",
    }
    assert server.problems == []
