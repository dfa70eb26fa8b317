"""s12: the demo does what the lesson promises, and the exercises are graded."""

from __future__ import annotations

import contextlib
import io
import json
import unittest

from curriculum.grading.agent_conformance import check_agent
from curriculum.grading.exercise import load
from curriculum.grading.mistakes import raise_findings
from curriculum.grading.s12 import grade_assemble, grade_side_by_side
from curriculum.grading.what_becomes import grade_what_becomes
from curriculum.lessons.needs import without_httpx
from curriculum.lessons.s12_mino.demo import main

LESSON = "s12_mino"
MISSING = without_httpx()


@unittest.skipIf(MISSING, MISSING)
class DemoTest(unittest.TestCase):
    def setUp(self) -> None:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            self.runner = main()
        lines = printed.getvalue().splitlines()
        self.screen = [line for line in lines if not line.startswith("{")]
        self.events = [json.loads(line) for line in lines if line.startswith("{")]

    def payloads(self, type: str) -> list[dict]:
        return [event["payload"] for event in self.events if event["type"] == type]

    def test_every_seam_has_left_its_mark_in_the_trace(self) -> None:
        types = {event["type"] for event in self.events}
        marks = {"model.delta", "tool.start", "approval.decision", "journal.append"}
        self.assertLessEqual({*marks, "retry.wait", "budget.spend"}, types)

    def test_what_was_asked_was_decided_by_whom_it_should_be(self) -> None:
        decided = [
            (event["payload"]["decision"], event["actor"]["kind"])
            for event in self.events
            if event["type"] == "approval.decision"
        ]
        self.assertEqual(decided, [("allow", "user"), ("deny", "user"), ("deny", "policy")])
        self.assertEqual(sum(line.startswith("Approve") for line in self.screen), 2)

    def test_one_command_has_run_and_the_others_have_a_result_all_the_same(self) -> None:
        self.assertEqual(len(self.payloads("tool.start")), 1)
        statuses = [payload["status"] for payload in self.payloads("tool.result")]
        self.assertEqual(statuses, ["completed", "denied", "denied"])

    def test_the_rate_limit_is_waited_out(self) -> None:
        self.assertEqual([p["wait_us"] for p in self.payloads("retry.wait")], [2_000_000])

    def test_each_turn_is_on_disk_from_its_input_to_its_end(self) -> None:
        kinds = self.screen[-2].removeprefix("On disk: ").split()
        self.assertEqual(kinds[0], "session")
        self.assertEqual((kinds.count("user_input"), kinds.count("turn_end")), (2, 2))
        self.assertEqual((kinds.count("tool_start"), kinds.count("tool_result")), (1, 3))


class ExerciseTest(unittest.TestCase):
    def test_a_side_by_side(self) -> None:
        grade_side_by_side(load(LESSON, "side_by_side"))

    def test_b_assemble(self) -> None:
        grade_assemble(load(LESSON, "assemble"))

    def test_c_what_becomes(self) -> None:
        grade_what_becomes(load(LESSON, "WHAT_BECOMES"))

    def test_d_agent(self) -> None:
        raise_findings("Agent", check_agent(load(LESSON, "Agent")))
