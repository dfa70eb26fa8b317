"""s09: the demo does what the lesson promises, and the exercises are graded."""

from __future__ import annotations

import contextlib
import io
import json
import unittest

from curriculum.grading.exercise import load
from curriculum.grading.s09 import (
    grade_keep_last_turns,
    grade_left_out,
    grade_requests_of,
    grade_what_becomes,
)
from curriculum.lessons.s09_context.demo import main

LESSON = "s09_context"


class DemoTest(unittest.TestCase):
    def setUp(self) -> None:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            self.runner = main()
        self.events = [json.loads(line) for line in printed.getvalue().splitlines()[1:]]

    def payloads(self, type: str) -> list[dict]:
        return [event["payload"] for event in self.events if event["type"] == type]

    def test_the_first_request_shows_everything(self) -> None:
        types = [e["type"] for e in self.events]
        self.assertEqual(types[2:4], ["model.request", "model.response"])

    def test_outputs_are_cut_before_anything_is_left_out(self) -> None:
        first, second, _ = self.payloads("context.compact")
        self.assertEqual([cut["index"] for cut in first["truncated"]], [7])
        self.assertEqual([cut["index"] for cut in second["truncated"]], [7, 9])
        self.assertEqual((first["dropped"], second["dropped"]), ([], []))

    def test_a_refused_request_is_answered_once_by_a_shorter_one(self) -> None:
        last = self.payloads("context.compact")[-1]
        self.assertEqual(last["reason"], "overflow")
        self.assertEqual(last["dropped"], [1, 2, 3, 4, 6, 7])
        self.assertEqual(last["summary"], "A nightly job, from two to three, writes two logs.")
        roles = self.payloads("model.request")[-1]["roles"]
        self.assertEqual(roles, ["system", "user", "user", "assistant", "tool"])

    def test_the_trace_holds_the_outputs_whole(self) -> None:
        for result in self.payloads("tool.result"):
            self.assertNotIn("characters left out", result["output"])
            self.assertGreater(len(result["output"]), 1000)


class ExerciseTest(unittest.TestCase):
    def test_a_left_out(self) -> None:
        grade_left_out(load(LESSON, "left_out"))

    def test_b_keep_last_turns(self) -> None:
        grade_keep_last_turns(load(LESSON, "KeepLastTurns"))

    def test_c_what_becomes(self) -> None:
        grade_what_becomes(load(LESSON, "WHAT_BECOMES"))

    def test_d_requests_of(self) -> None:
        grade_requests_of(load(LESSON, "requests_of"))
