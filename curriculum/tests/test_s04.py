"""s04: the demo does what the lesson promises, and the exercises are graded."""

from __future__ import annotations

import contextlib
import io
import json
import unittest

from curriculum.grading.batch_answers import grade_batch_answers
from curriculum.grading.display_conformance import grade_render
from curriculum.grading.exact_commands import grade_exact_commands
from curriculum.grading.exercise import load
from curriculum.grading.s04 import grade_decisions_of
from curriculum.lessons.s04_approvals.demo import main

LESSON = "s04_approvals"


class DemoTest(unittest.TestCase):
    def setUp(self) -> None:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            self.runner = main()
        self.first, *lines = printed.getvalue().splitlines()
        self.events = [json.loads(line) for line in lines]

    def of_call(self, call_id: str) -> list[dict]:
        return [event for event in self.events if event["payload"].get("call_id") == call_id]

    def displays(self, type: str) -> dict[str, dict]:
        payloads = [event["payload"] for event in self.events if event["type"] == type]
        return {payload["call_id"]: payload["display"] for payload in payloads}

    def decision(self, call_id: str) -> tuple[str, str, str]:
        [event] = [e for e in self.of_call(call_id) if e["type"] == "approval.decision"]
        payload = event["payload"]
        return event["actor"]["kind"], payload["decision"], payload.get("rationale", "")

    def test_every_call_has_one_decision_by_a_rule_or_by_the_user(self) -> None:
        self.assertEqual(self.decision("call-1"), ("policy", "allow", "counting is harmless"))
        self.assertEqual(self.decision("call-2"), ("policy", "deny", "the network is off"))
        self.assertEqual(self.decision("call-3"), ("user", "deny", ""))
        self.assertEqual(self.decision("call-4"), ("user", "allow", ""))

    def test_an_allowed_call_is_asked_about_allowed_started_and_answered(self) -> None:
        wanted = ["tool.call", "approval.request", "approval.decision", "tool.start", "tool.result"]
        for call_id in ("call-1", "call-4"):
            self.assertEqual([event["type"] for event in self.of_call(call_id)], wanted)

    def test_a_denied_call_has_a_result_with_its_cause_and_no_start(self) -> None:
        wanted = ["tool.call", "approval.request", "approval.decision", "tool.result"]
        for call_id, cause in {"call-2": "the network is off", "call-3": "the user"}.items():
            *_, result = events = self.of_call(call_id)
            self.assertEqual([event["type"] for event in events], wanted)
            self.assertEqual(result["payload"]["status"], "denied")
            self.assertIn(cause, result["payload"]["output"])

    def test_what_was_shown_is_what_started(self) -> None:
        shown, started = self.displays("approval.request"), self.displays("tool.start")
        self.assertEqual(set(started), {"call-1", "call-4"})
        for call_id, display in started.items():
            self.assertEqual(display, shown[call_id])

    def test_the_model_reads_every_refusal(self) -> None:
        last = self.runner.model.requests[-1]
        statuses = [json.loads(m.content)["status"] for m in last if m.role == "tool"]
        self.assertEqual(statuses, ["completed", "denied", "denied", "completed"])

    def test_the_run_completes_with_an_answer(self) -> None:
        self.assertEqual(self.events[-1]["payload"]["reason"], "completed")
        self.assertIn("TO BE OR NOT TO BE", self.first)


class ExerciseTest(unittest.TestCase):
    def test_a_decisions_of(self) -> None:
        grade_decisions_of(load(LESSON, "decisions_of"))

    def test_b_exact_commands(self) -> None:
        grade_exact_commands(load(LESSON, "ExactCommands"))

    def test_c_batch_answers(self) -> None:
        grade_batch_answers(load(LESSON, "BATCH_ANSWERS"))

    def test_d_render(self) -> None:
        grade_render(load(LESSON, "render"))
