"""Prepare, ask, start, execute, result: what is approved is what runs, and nothing runs before."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from curriculum.core.approval import ApprovalRequest, Decision
from curriculum.core.errors import PreparationError
from curriculum.core.messages import ModelTurn
from curriculum.core.tools import Prepared, RunningCall, ToolBox, ToolResult
from tests.core.parts import (
    Answers,
    Probe,
    asks,
    call,
    ends_well,
    events_of,
    payloads,
    runner_of,
    statuses,
    types,
)


@pytest.mark.parametrize(("name", "arguments"), [("nothing", "{}"), ("probe", "bad")])
def test_a_call_that_cannot_be_prepared_reaches_neither_approver_nor_execution(
    name: str, arguments: str
) -> None:
    probe, approver = Probe(), Answers()
    script = [asks(call(0, name, arguments)), ModelTurn("done")]
    result = ends_well(runner_of(script, probe, granted=False, approver=approver).run("go"))
    assert result.stop_reason == "completed"
    assert (approver.asked, probe.ran) == ([], [])
    assert not {"approval.request", "tool.start"} & set(types(result))


def test_the_unknown_tool_result_names_the_tools_there_are() -> None:
    result = runner_of([asks(call(0, "shell")), ModelTurn("done")], Probe()).run("go")
    assert "no tool is named 'shell'; tools: probe" in payloads(result, "tool.result")[0]["output"]


def test_with_no_approver_every_call_is_denied() -> None:
    probe = Probe()
    result = ends_well(runner_of([asks(call(0)), ModelTurn("ok")], probe, granted=False).run("go"))
    assert (statuses(result), probe.ran) == ({"call-0": "denied"}, [])
    assert events_of(result, "approval.decision")[0].actor == {"kind": "policy", "id": "deny-all"}


@pytest.mark.parametrize("decision", ["deny", "expired"])
def test_a_refused_call_has_a_result_and_no_start(decision: str) -> None:
    probe = Probe()
    script = [asks(call(0)), ModelTurn("ok")]
    runner = runner_of(script, probe, granted=False, approver=Answers(decision))
    result = ends_well(runner.run("go"))
    assert (statuses(result), probe.ran) == ({"call-0": "denied"}, [])
    assert "tool.start" not in types(result)
    told = result.messages[2].content
    assert "the user refused this call (so decided); nothing ran; do not repeat it" in told


def test_each_call_is_asked_about_anew() -> None:
    approver = Answers()
    script = [asks(call(0), call(1)), asks(call(2)), ModelTurn("ok")]
    ends_well(runner_of(script, Probe(), granted=False, approver=approver).run("go"))
    assert [request.call_id for request in approver.asked] == ["call-0", "call-1", "call-2"]
    ids = [request.approval_id for request in approver.asked]
    assert ids == ["approval-1", "approval-2", "approval-3"]


def test_a_granted_tool_runs_without_a_question() -> None:
    approver = Answers("deny")
    runner = runner_of([asks(call(0)), ModelTurn("ok")], Probe(), approver=approver)
    result = ends_well(runner.run("go"))
    assert (statuses(result), approver.asked) == ({"call-0": "completed"}, [])
    assert "approval.request" not in types(result)


def test_an_approver_that_edits_the_display_changes_nothing_that_runs_or_is_recorded() -> None:
    class Edits:
        def decide(self, request: ApprovalRequest) -> Decision:
            request.display["arguments"] = "edited"  # type: ignore[index]
            request.display["environment"]["A"] = "edited"  # type: ignore[index]
            return Decision("allow", "user", "editor")

    probe = Probe()
    script = [asks(call(0, arguments="given")), ModelTurn("ok")]
    result = ends_well(runner_of(script, probe, granted=False, approver=Edits()).run("go"))
    assert probe.ran == ["given"]
    wanted = {"arguments": "given", "environment": {"A": "1"}}
    assert payloads(result, "approval.request")[0]["display"] == wanted
    assert payloads(result, "tool.start")[0]["display"] == wanted


def test_a_tool_that_is_not_ready_gives_not_executed_and_the_run_goes_on() -> None:
    class Gone(Probe):
        def prepare(self, arguments: str) -> Prepared:
            raise PreparationError("the directory is gone")

    result = ends_well(runner_of([asks(call(0)), ModelTurn("ok")], Gone()).run("go"))
    assert (result.stop_reason, statuses(result)) == ("completed", {"call-0": "not_executed"})


def test_live_output_comes_between_start_and_result() -> None:
    def talk(running: RunningCall) -> None:
        running.output("stdout", "one")
        running.output("stderr", "two\ud800")

    result = ends_well(runner_of([asks(call(0)), ModelTurn("ok")], Probe(act=talk)).run("go"))
    at = types(result).index("tool.start")
    assert types(result)[at : at + 4] == ["tool.start", "tool.output", "tool.output", "tool.result"]
    assert [p["text"] for p in payloads(result, "tool.output")] == ["one", "two\ufffd"]


def test_actors_say_who_is_responsible() -> None:
    script = [asks(call(0), call(1, "nothing")), ModelTurn("ok")]
    runner = runner_of(script, Probe(), granted=False, approver=Answers())
    result = ends_well(runner.run("go"))
    actors = {(event.type, event.actor["kind"]) for event in result.events}
    assert actors == {
        ("session.start", "harness"),
        ("user.message", "user"),
        ("model.request", "harness"),
        ("model.response", "model"),
        ("tool.call", "model"),
        ("approval.request", "harness"),
        ("approval.decision", "user"),
        ("tool.start", "harness"),
        ("tool.result", "tool"),
        ("tool.result", "harness"),
        ("session.stop", "harness"),
    }


def test_parents_tell_the_chain_from_question_to_result() -> None:
    runner = runner_of([asks(call(0)), ModelTurn("ok")], Probe(), granted=False, approver=Answers())
    result = ends_well(runner.run("go"))
    by_id = {event.event_id: event for event in result.events}
    event, chain = events_of(result, "tool.result")[0], []
    while event.parent_id:
        event = by_id[event.parent_id]
        chain.append(event.type)
    assert chain[:6] == [
        "tool.start",
        "approval.decision",
        "approval.request",
        "tool.call",
        "model.response",
        "model.request",
    ]


@pytest.mark.parametrize("granted", [True, False])
def test_of_several_calls_each_has_a_chain_of_its_own(granted: bool) -> None:
    script = [asks(call(0), call(1), call(2)), ModelTurn("ok")]
    runner = runner_of(script, Probe(), granted=granted, approver=Answers(), scheduler=InOneGroup())
    result = ends_well(runner.run("go"))
    by_id = {event.event_id: event for event in result.events}
    for event in events_of(result, "tool.result"):
        chain = [event]
        while chain[-1].type != "tool.call":
            chain.append(by_id[str(chain[-1].parent_id)])
        assert len(chain) == (3 if granted else 5)
        assert len({link.payload["call_id"] for link in chain}) == 1


@pytest.mark.parametrize("fault", [OSError("no terminal"), KeyboardInterrupt()])
def test_a_question_that_comes_to_nothing_has_a_decision_that_says_why(
    fault: BaseException,
) -> None:
    class Fails:
        def decide(self, request: ApprovalRequest) -> Decision:
            raise fault

    script = [asks(call(0))]
    result = ends_well(runner_of(script, Probe(), granted=False, approver=Fails()).run("go"))
    (decision,) = events_of(result, "approval.decision")
    assert decision.actor == {"kind": "policy", "id": "harness"}
    assert decision.payload["decision"] == "cancelled"
    assert decision.payload["rationale"] == payloads(result, "error")[0]["message"]


def test_a_decision_follows_from_its_question_whatever_is_recorded_meanwhile() -> None:
    class Notes:
        def decide(self, request: ApprovalRequest) -> Decision:
            about = {"call_id": request.call_id}
            runner.recorder.emit("x.a.note", actor_kind="user", actor_id="u", payload=about)
            return Decision("allow", "user", "u")

    script = [asks(call(0)), ModelTurn("ok")]
    runner = runner_of(script, Probe(), granted=False, approver=Notes())
    result = ends_well(runner.run("go"))
    (question,) = events_of(result, "approval.request")
    (decision,) = events_of(result, "approval.decision")
    assert decision.parent_id == question.event_id
    assert "rationale" not in decision.payload


def test_an_answer_that_is_none_is_told() -> None:
    class Odd:
        def decide(self, request: ApprovalRequest) -> str:
            return "yes"

    result = ends_well(runner_of([asks(call(0))], Probe(), granted=False, approver=Odd()).run("go"))
    assert payloads(result, "error")[0]["message"] == "TypeError: the approver answered 'yes'"


def test_a_denied_result_follows_from_the_decision() -> None:
    result = runner_of([asks(call(0)), ModelTurn("ok")], Probe(), granted=False).run("go")
    decision = events_of(result, "approval.decision")[0]
    assert events_of(result, "tool.result")[0].parent_id == decision.event_id


class InOneGroup:
    """All calls of an answer as one group, run last first."""

    def groups(self, calls: Sequence[object], tools: ToolBox) -> list[Sequence[object]]:
        return [calls]

    def run(
        self, work: Sequence[Callable[[], ToolResult | Exception]]
    ) -> list[ToolResult | Exception]:
        return [run() for run in reversed(work)][::-1]


def test_results_of_a_group_are_committed_in_call_order() -> None:
    probe = Probe()
    script = [asks(call(0, arguments="a"), call(1, arguments="b")), ModelTurn("ok")]
    result = ends_well(runner_of(script, probe, scheduler=InOneGroup()).run("go"))
    assert probe.ran == ["b", "a"]
    assert list(statuses(result)) == ["call-0", "call-1"]


def test_a_bug_in_one_call_of_a_group_does_not_lose_the_other_results() -> None:
    broken = Probe("broken", act=lambda _: "not a result")
    script = [asks(call(0), call(1, "broken"), call(2)), ModelTurn("ok")]
    result = ends_well(runner_of(script, Probe(), broken, scheduler=InOneGroup()).run("go"))
    assert statuses(result) == {"call-0": "completed", "call-2": "completed", "call-1": "unknown"}
