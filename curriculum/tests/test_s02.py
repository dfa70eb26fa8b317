"""s02: the demo does what the lesson promises, and the exercises are graded."""

from __future__ import annotations

import contextlib
import io
import json
import unittest
from unittest import mock

from curriculum.grading.exercise import load
from curriculum.grading.masked_stream import grade_masked_stream
from curriculum.grading.s02 import grade_deltas_of, grade_word_by_word
from curriculum.grading.stream_outcomes import grade_stream_outcomes
from curriculum.lessons.s02_streaming import demo

LESSON = "s02_streaming"


class DemoTest(unittest.TestCase):
    def setUp(self) -> None:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            demo.main()
        self.first, *lines = printed.getvalue().splitlines()
        self.events = [json.loads(line) for line in lines]
        self.types = [event["type"] for event in self.events]

    def payloads(self, type: str) -> list[dict]:
        return [event["payload"] for event in self.events if event["type"] == type]

    def test_the_text_arrives_in_pieces_between_request_and_response(self) -> None:
        deltas = [n for n, type in enumerate(self.types) if type == "model.delta"]
        self.assertGreater(len(deltas), 1)
        request = self.types.index("model.request")
        response = self.types.index("model.response")
        self.assertEqual(deltas, list(range(request + 1, response)))

    def test_the_pieces_add_up_to_the_response(self) -> None:
        [response] = self.payloads("model.response")
        deltas = self.payloads("model.delta")
        self.assertEqual("".join(delta["text"] for delta in deltas), response["content"])
        self.assertEqual([delta["index"] for delta in deltas], list(range(len(deltas))))
        self.assertEqual(response["chunks"], {"count": len(deltas), "complete": True})
        self.assertEqual(self.first, response["content"])

    def test_the_pieces_are_one_assistant_message(self) -> None:
        with mock.patch.object(demo, "show") as show:
            demo.main()
        [result] = show.call_args.args
        wanted = [("user", demo.PROMPT), ("assistant", self.first)]
        self.assertEqual([(m.role, m.content) for m in result.messages], wanted)

    def test_the_model_is_responsible_for_every_piece(self) -> None:
        actors = {e["actor"]["kind"] for e in self.events if e["type"] == "model.delta"}
        self.assertEqual(actors, {"model"})


class ExerciseTest(unittest.TestCase):
    def test_a_deltas_of(self) -> None:
        grade_deltas_of(load(LESSON, "deltas_of"))

    def test_b_word_by_word(self) -> None:
        grade_word_by_word(load(LESSON, "WordByWord"))

    def test_c_stream_outcomes(self) -> None:
        grade_stream_outcomes(load(LESSON, "STREAM_OUTCOMES"))

    def test_d_masked_stream(self) -> None:
        grade_masked_stream(load(LESSON, "MaskedStream"))
