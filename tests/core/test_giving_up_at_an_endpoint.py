"""Retries and deadlines with a real adapter, over a real socket: the cases of HTTP that wait.

Waiting is virtual here. Only the tests of a silent server let real time pass, a fraction of a
second, because the adapter's own clock is what they are about.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from curriculum.core.deadline import DeadlineToken, RequestDeadline
from curriculum.core.loop import AgentRunner, RunResult
from curriculum.core.retry import RetryingModel
from curriculum.core.seams import CancelToken
from curriculum.core.trace import SystemClock
from curriculum.core.waiting import VirtualTime
from curriculum.providers.endpoint import Endpoint
from curriculum.providers.responses import ResponsesModel
from curriculum.providers.scripted_endpoint import ScriptedEndpoint
from tests.core.parts import ends_well, payloads, types

SECOND = 1_000_000
ANSWER = {"answer": {"text": "Here I am."}}
PIECE = {"event": {"type": "response.output_text.delta", "delta": "Half an ans"}}
Serve = Callable[..., ScriptedEndpoint]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    with ExitStack() as stack:
        yield lambda *exchanges: stack.enter_context(
            ScriptedEndpoint({"exchanges": list(exchanges)})
        )


def refusal(status: int, message: str, code: str, **headers: str) -> dict[str, Any]:
    body = json.dumps({"error": {"message": message, "code": code}})
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return {"status": status, "headers": named, "send": [{"raw": body}]}


def adapter(server: ScriptedEndpoint, cancel: CancelToken) -> ResponsesModel:
    return ResponsesModel(Endpoint(server.url, "test-key"), "scripted", cancel=cancel)


def run(server: ScriptedEndpoint) -> RunResult:
    time, cancel = VirtualTime(), CancelToken()
    model = RetryingModel(adapter(server, cancel), time, cancel, draw=lambda most: 0)
    return ends_well(AgentRunner(model, cancel=cancel).run("go"))


def waits(result: RunResult) -> list[int]:
    return [p["wait_us"] for p in payloads(result, "retry.wait")]


def test_h1_a_retry_after_in_seconds_is_waited_out(serve: Serve) -> None:
    limited = refusal(429, "Slow down.", "rate_limit_exceeded", retry_after="2")
    result = run(serve(limited, ANSWER))
    assert (result.final_text, waits(result)) == ("Here I am.", [2 * SECOND])


def test_h1_a_retry_after_as_a_date_is_waited_out(serve: Serve) -> None:
    limited = refusal(
        429,
        "Slow down.",
        "rate_limit_exceeded",
        date="Tue, 01 Dec 2026 04:00:00 GMT",
        retry_after="Tue, 01 Dec 2026 04:00:07 GMT",
    )
    assert waits(run(serve(limited, ANSWER))) == [7 * SECOND]


@pytest.mark.parametrize("nonsense", ["-1", "NaN", "soon"])
def test_h1_nonsense_is_as_if_nobody_had_asked(serve: Serve, nonsense: str) -> None:
    limited = refusal(429, "Slow down.", "rate_limit_exceeded", retry_after=nonsense)
    result = run(serve(limited, ANSWER))
    assert (result.final_text, waits(result)) == ("Here I am.", [0])


@pytest.mark.parametrize("after", ["86400", "30"])
def test_h1_a_wait_above_the_cap_ends_the_run_and_is_named(serve: Serve, after: str) -> None:
    server = serve(refusal(429, "Slow down.", "rate_limit_exceeded", retry_after=after), ANSWER)
    result = run(server)
    assert (result.stop_reason, waits(result), len(server.requests)) == ("failed", [], 1)
    assert f"{after} s" in str(result.error)


def test_h2_a_wait_that_only_the_message_names_is_shown_and_not_tried_five_times(
    serve: Serve,
) -> None:
    text = "Rate limit reached. Please try again in 7m12s."
    server = serve(refusal(429, text, "rate_limit_exceeded"), ANSWER)
    result = run(server)
    assert (result.stop_reason, len(server.requests)) == ("failed", 1)
    assert "try again in 7m12s" in str(result.error)


def test_h3_a_spent_quota_is_asked_for_once(serve: Serve) -> None:
    server = serve(refusal(429, "You exceeded your quota.", "insufficient_quota"), ANSWER)
    result = run(server)
    assert (result.stop_reason, waits(result), len(server.requests)) == ("failed", [], 1)


def test_g3_a_server_error_in_the_stream_is_retried_and_an_overflow_is_not(serve: Serve) -> None:
    def failed(code: str) -> dict[str, Any]:
        error = {"code": code, "message": "It failed."}
        return {"send": [{"event": {"type": "response.failed", "response": {"error": error}}}]}

    assert run(serve(failed("server_error"), ANSWER)).final_text == "Here I am."
    server = serve(failed("context_length_exceeded"), ANSWER)
    assert (run(server).stop_reason, len(server.requests)) == ("failed", 1)


def test_g23_a_stream_that_breaks_after_text_is_not_begun_again(serve: Serve) -> None:
    server = serve({"send": [PIECE, {"reset": True}]}, ANSWER)
    result = run(server)
    assert (result.stop_reason, len(server.requests)) == ("failed", 1)
    assert payloads(result, "model.response")[0]["content"] == "Half an ans"
    assert types(result).count("model.delta") == 1


def test_a_stream_that_breaks_before_text_is_begun_again(serve: Serve) -> None:
    server = serve({"send": [{"reset": True}]}, ANSWER)
    assert (run(server).final_text, len(server.requests)) == ("Here I am.", 2)


def test_the_deadline_of_the_run_leaves_a_silent_server(serve: Serve) -> None:
    server = serve({"send": [PIECE, {"hold": True}]})
    token = DeadlineToken(SystemClock(), 200_000)
    model = RetryingModel(adapter(server, token), VirtualTime(), token)
    result = ends_well(AgentRunner(model, cancel=token).run("go"))
    assert (result.stop_reason, str(result.error)) == (
        "cancelled",
        "the run took longer than 0.2 s",
    )
    assert payloads(result, "cancel.request") == [{"by": "policy"}]


def test_a_request_to_a_silent_server_is_left_and_made_again(serve: Serve) -> None:
    server, run_token = serve({"send": [{"hold": True}]}, ANSWER), CancelToken()

    class Ahead(SystemClock):
        """A minute ahead as soon as the first request is there."""

        def read(self) -> tuple[int, int]:
            wall, now = super().read()
            return wall, now + (60 * SECOND if server.requests else 0)

    limit = 30 * SECOND
    timed = RequestDeadline(lambda token: adapter(server, token), Ahead(), limit, run_token)
    model = RetryingModel(timed, VirtualTime(), run_token, draw=lambda most: 0)
    result = ends_well(AgentRunner(model, cancel=run_token).run("go"))
    assert (result.final_text, len(server.requests)) == ("Here I am.", 2)
    cause = payloads(result, "retry.wait")[0]["cause"]
    assert cause == "transient: the request took longer than 30 s"
