"""s01: the demo does what the lesson promises, and the exercises are graded."""

from __future__ import annotations

import contextlib
import io
import json
import unittest

from curriculum.grading.exercise import load
from curriculum.grading.model_conformance import check_model
from curriculum.grading.s01 import (
    grade_adapter,
    grade_cancellation,
    grade_first_request,
    grade_run_out_of_turns,
)
from curriculum.lessons.s01_agent_loop.demo import PROMPT, main
from curriculum.tests.under_test import ScriptedUnderTest, VendorUnderTest

LESSON = "s01_agent_loop"


class DemoTest(unittest.TestCase):
    def setUp(self) -> None:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            self.runner = main()
        self.first, *lines = printed.getvalue().splitlines()
        self.events = [json.loads(line) for line in lines]

    def test_the_final_text_is_printed_before_the_trace(self) -> None:
        response = self.events[3]["payload"]
        self.assertEqual(self.first, response["content"])
        self.assertTrue(self.first)

    def test_the_trace_holds_the_five_event_families_in_order(self) -> None:
        types = "session.start user.message model.request model.response session.stop"
        self.assertEqual([event["type"] for event in self.events], types.split())
        self.assertEqual([event["sequence"] for event in self.events], [0, 1, 2, 3, 4])

    def test_the_request_shows_the_model_one_user_message(self) -> None:
        self.assertEqual(self.events[2]["payload"]["roles"], ["user"])
        [request] = self.runner.model.requests
        self.assertEqual([(m.role, m.content) for m in request], [("user", PROMPT)])

    def test_the_model_is_responsible_for_the_response(self) -> None:
        self.assertEqual(self.events[3]["actor"]["kind"], "model")

    def test_the_run_stops_as_completed(self) -> None:
        self.assertEqual(self.events[4]["payload"], {"event_count": 5, "reason": "completed"})

    def test_no_payload_holds_private_reasoning(self) -> None:
        for event in self.events:
            self.assertNotIn("chain_of_thought", json.dumps(event["payload"]))


class ExerciseTest(unittest.TestCase):
    def test_a_first_request(self) -> None:
        grade_first_request(load(LESSON, "first_request"))

    def test_b_run_out_of_turns(self) -> None:
        grade_run_out_of_turns(load(LESSON, "run_out_of_turns"))

    def test_c_cancellation(self) -> None:
        grade_cancellation(load(LESSON, "CANCELLATION"))

    def test_d_adapter(self) -> None:
        grade_adapter(VendorUnderTest(load(LESSON, "adapter")), VendorUnderTest.usage)


class ConformanceTest(unittest.TestCase):
    def test_scripted_model_passes_the_kit_that_adapters_are_put_through(self) -> None:
        self.assertEqual(check_model(ScriptedUnderTest()), [])
