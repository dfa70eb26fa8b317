"""Who allows: a person who types a whole yes, a rule with its cause, and otherwise nobody."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curriculum.core.approval import ApprovalRequest, Decision, DenyAll, HumanApprover
from curriculum.core.messages import ModelTurn
from curriculum.core.policy import PolicyApprover, Rule
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
)


def request(command: object = "ls", tool: str = "bash") -> ApprovalRequest:
    return ApprovalRequest("approval-1", "call-1", tool, {"command": command, "directory": "/"})


@pytest.mark.parametrize("line", ["y", "Y", "yes", "YES", " yEs \t", "y\r", "y\n"])
def test_a_whole_yes_allows(line: str) -> None:
    assert HumanApprover(lambda _: line).decide(request()).decision == "allow"


@pytest.mark.parametrize(
    "line",
    ["", "\n", "n", "no", "yep", "yes, but...", "y y", "ye", "ja", "y" * 5000, "\x00y", "y;"],
)
def test_e6_any_other_line_is_a_no(line: str) -> None:
    decision = HumanApprover(lambda _: line).decide(request())
    assert (decision.decision, decision.actor_kind) == ("deny", "user")


@given(st.text())
def test_only_y_and_yes_allow(line: str) -> None:
    decision = HumanApprover(lambda _: line).decide(request()).decision
    assert (decision == "allow") == (line.strip().lower() in {"y", "yes"})


def test_no_line_at_all_is_a_no_that_names_no_user() -> None:
    decision = HumanApprover(lambda _: None).decide(request())
    assert decision == Decision("deny", "policy", "no-answer", "nobody was there to answer")


def test_where_no_approver_is_plugged_in_every_call_is_denied_for_that_reason() -> None:
    decision = DenyAll().decide(request())
    assert decision == Decision("deny", "policy", "deny-all", "no approver is plugged in")


def test_whoever_answers_is_the_user_unless_named() -> None:
    assert HumanApprover(lambda _: "y").decide(request()) == Decision("allow", "user", "user")
    ada = HumanApprover(lambda _: "n", "ada").decide(request())
    assert ada == Decision("deny", "user", "ada")


def test_input_at_its_end_is_a_no_that_names_no_user() -> None:
    def ask(_: ApprovalRequest) -> str:
        raise EOFError

    assert HumanApprover(ask).decide(request()) == HumanApprover(lambda _: None).decide(request())


def test_e8_ctrl_c_at_the_question_cancels_the_turn_and_nothing_runs() -> None:
    def interrupt(_: ApprovalRequest) -> str:
        raise KeyboardInterrupt

    probe = Probe()
    script = [asks(call(0), call(1))]
    runner = runner_of(script, probe, granted=False, approver=HumanApprover(interrupt))
    result = ends_well(runner.run("go"))
    assert result.stop_reason == "cancelled"
    assert set(statuses(result).values()) == {"not_executed"}
    assert probe.ran == []
    (event,) = events_of(result, "approval.decision")
    assert event.actor == {"kind": "user", "id": "user"}
    assert event.payload["decision"] == "cancelled"
    assert event.payload["rationale"] == "Ctrl+C at the question"


def test_the_first_rule_that_matches_decides_with_its_cause() -> None:
    policy = PolicyApprover(
        [
            Rule("deny", "no network", fields=(("command", "*curl*"),)),
            Rule("allow", "reading is fine", "bash", (("command", "ls"), ("directory", "/"))),
            Rule("deny", "never reached", "bash"),
        ]
    )
    decisions = [policy.decide(request(command)) for command in ("ls", "curl x", "ls -l")]
    assert [(d.decision, d.rationale, d.actor_kind) for d in decisions] == [
        ("allow", "reading is fine", "policy"),
        ("deny", "no network", "policy"),
        ("deny", "never reached", "policy"),
    ]


@pytest.mark.parametrize("command", ["ls; rm -rf x", "ls\nrm", " ls", "LS", "", 5, None])
def test_an_exact_rule_allows_nothing_else(command: object) -> None:
    policy = PolicyApprover([Rule("allow", "exact", "bash", (("command", "ls"),))])
    assert policy.decide(request(command)).decision == "deny"


def test_a_rule_about_a_field_that_is_not_there_never_matches() -> None:
    policy = PolicyApprover([Rule("allow", "any path", fields=(("path", "*"),))])
    assert policy.decide(request()) == Decision("deny", "policy", "policy", "no rule allows it")


def test_a_rule_about_one_tool_says_nothing_of_another() -> None:
    policy = PolicyApprover([Rule("allow", "harmless", "read_file")], name="tools")
    assert policy.decide(request(tool="read_file")) == Decision(
        "allow", "policy", "tools", "harmless"
    )
    assert policy.decide(request(tool="bash")).decision == "deny"


def test_what_no_rule_knows_is_asked_of_the_next_approver() -> None:
    human = Answers("allow")
    policy = PolicyApprover([Rule("deny", "no network", fields=(("command", "*curl*"),))], human)
    assert policy.decide(request("ls")).actor_id == "tester"
    assert policy.decide(request("curl x")).decision == "deny"
    assert len(human.asked) == 1


def test_a_rule_can_only_allow_or_deny() -> None:
    with pytest.raises(ValueError, match="allows or denies"):
        PolicyApprover([Rule("cancelled", "x")])  # type: ignore[arg-type]


def test_a_denial_by_rule_reaches_the_model_and_the_trace_with_its_cause() -> None:
    policy = PolicyApprover([Rule("deny", "writes are off", "probe")], name="readonly")
    script = [asks(call(0)), ModelTurn("ok")]
    result = ends_well(runner_of(script, Probe(), granted=False, approver=policy).run("go"))
    assert events_of(result, "approval.decision")[0].actor == {"kind": "policy", "id": "readonly"}
    assert payloads(result, "approval.decision")[0]["rationale"] == "writes are off"
    output = payloads(result, "tool.result")[0]["output"]
    assert "policy readonly refused this call (writes are off)" in output
