"""s08: the demo does what the lesson promises, and the exercises are graded."""

from __future__ import annotations

import contextlib
import io
import json
import unittest

from curriculum.grading.circuit_breaker import grade_circuit_breaker
from curriculum.grading.exercise import load
from curriculum.grading.s08 import grade_attempts_of, grade_fallback
from curriculum.grading.when_it_ends import grade_when_it_ends
from curriculum.lessons.s08_when_to_give_up.demo import SECOND, main

LESSON = "s08_when_to_give_up"


class DemoTest(unittest.TestCase):
    def setUp(self) -> None:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            self.runner = main()
        self.first, *lines = printed.getvalue().splitlines()
        self.events = [json.loads(line) for line in lines]

    def payloads(self, type: str) -> list[dict]:
        return [event["payload"] for event in self.events if event["type"] == type]

    def test_the_rate_limit_is_waited_out_for_at_least_as_long_as_was_asked(self) -> None:
        wait = self.payloads("retry.wait")[0]
        self.assertTrue(wait["cause"].startswith("rate-limit"))
        self.assertGreaterEqual(wait["wait_us"], 2 * SECOND)

    def test_every_attempt_is_a_request_of_its_own(self) -> None:
        attempts = [(p["turn"], p["attempt"]) for p in self.payloads("model.request")]
        self.assertEqual(attempts, [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 1)])

    def test_the_slow_call_has_timed_out_and_the_next_one_completes(self) -> None:
        first, second = self.payloads("tool.result")
        self.assertEqual((first["status"], first["reason"]), ("failed", "timeout"))
        self.assertEqual(second["status"], "completed")

    def test_the_deadline_cancels_the_run_by_policy_while_text_arrives(self) -> None:
        self.assertEqual(self.payloads("cancel.request"), [{"by": "policy"}])
        last = self.payloads("model.response")[-1]
        self.assertEqual((last["status"], last["content"]), ("cancelled", "The second one "))
        self.assertEqual(self.payloads("session.stop")[0]["reason"], "cancelled")

    def test_the_end_is_noticed_at_the_deadline_and_not_a_minute_later(self) -> None:
        [cancel] = [event for event in self.events if event["type"] == "cancel.request"]
        self.assertLess(cancel["elapsed_us"], 31 * SECOND)

    def test_what_is_printed_is_the_reason_and_no_half_of_an_answer(self) -> None:
        self.assertNotIn("The second one", self.first)
        self.assertIn("took longer than 30 s", self.first)


class ExerciseTest(unittest.TestCase):
    def test_a_attempts_of(self) -> None:
        grade_attempts_of(load(LESSON, "attempts_of"))

    def test_b_fallback(self) -> None:
        grade_fallback(load(LESSON, "Fallback"))

    def test_c_when_it_ends(self) -> None:
        grade_when_it_ends(load(LESSON, "WHEN_IT_ENDS"))

    def test_d_circuit_breaker(self) -> None:
        grade_circuit_breaker(load(LESSON, "CircuitBreaker"))
