"""s07: the demo does what the lesson promises, and the exercises are graded."""

from __future__ import annotations

import contextlib
import io
import json
import unittest

from curriculum.grading.exercise import load
from curriculum.grading.mistakes import raise_findings
from curriculum.grading.s07 import grade_classify, grade_outcome_of
from curriculum.grading.sse_conformance import check_reader
from curriculum.grading.stream_endings import grade_stream_endings
from curriculum.lessons.needs import without_httpx
from curriculum.lessons.s07_provider.demo import main

LESSON = "s07_provider"
MISSING = without_httpx()


@unittest.skipIf(MISSING, MISSING)
class DemoTest(unittest.TestCase):
    def setUp(self) -> None:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            self.runner = main()
        lines = printed.getvalue().splitlines()
        self.told = [line for line in lines if not line.startswith("{")]
        self.events = [json.loads(line) for line in lines if line.startswith("{")]

    def payloads(self, type: str) -> list[dict]:
        return [event["payload"] for event in self.events if event["type"] == type]

    def test_each_request_carries_the_whole_conversation_with_the_providers_own_items(self) -> None:
        self.assertEqual(
            self.told[:3],
            [
                "request 1: user",
                "request 2: user reasoning function_call function_call_output",
                "request 3: user reasoning function_call function_call_output assistant user",
            ],
        )

    def test_the_call_of_the_completed_response_runs_and_the_other_does_not(self) -> None:
        self.assertEqual([start["call_id"] for start in self.payloads("tool.start")], ["call-1"])
        self.assertEqual([result["output"] for result in self.payloads("tool.result")], ["6\n"])

    def test_of_the_cut_response_the_text_was_shown_and_nothing_is_kept(self) -> None:
        last = self.payloads("model.response")[-1]
        self.assertEqual((last["status"], last["tool_calls"]), ("failed", []))
        self.assertEqual(last["content"], "Let me count.")
        self.assertEqual(self.payloads("session.stop")[0]["reason"], "failed")

    def test_what_is_sealed_is_in_no_event(self) -> None:
        self.assertNotIn("c2VhbGVk", json.dumps(self.events))

    def test_neither_key_nor_address_is_in_what_is_printed(self) -> None:
        printed = json.dumps([self.told, self.events])
        self.assertNotIn("demo-key", printed)
        self.assertNotIn("127.0.0.1", printed)


class ExerciseTest(unittest.TestCase):
    def test_a_outcome_of(self) -> None:
        grade_outcome_of(load(LESSON, "outcome_of"))

    def test_b_classify(self) -> None:
        grade_classify(load(LESSON, "classify"))

    def test_c_stream_endings(self) -> None:
        table = load(LESSON, "STREAM_ENDINGS")
        if MISSING:
            self.skipTest(f"the real adapter cannot be asked: {MISSING}")
        grade_stream_endings(table)

    def test_d_event_reader(self) -> None:
        raise_findings("EventReader", check_reader(load(LESSON, "EventReader")))
