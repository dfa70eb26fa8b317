"""s03: the demo does what the lesson promises, and the exercises are graded."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import unittest
from collections.abc import Mapping
from pathlib import Path

from curriculum.core.tools import Tool
from curriculum.grading.exercise import load
from curriculum.grading.read_file import grade_read_file
from curriculum.grading.result_status import grade_result_status
from curriculum.grading.s03 import grade_pair_results, grade_word_count
from curriculum.grading.tool_conformance import check_tool
from curriculum.lessons.s03_bash_tool.demo import main
from curriculum.tools.bash import Bash

LESSON = "s03_bash_tool"


class DemoTest(unittest.TestCase):
    def setUp(self) -> None:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            self.runner = main()
        self.first, *lines = printed.getvalue().splitlines()
        self.events = [json.loads(line) for line in lines]

    def payloads(self, type: str) -> list[dict]:
        return [event["payload"] for event in self.events if event["type"] == type]

    def test_a_call_is_proposed_started_and_answered_in_that_order(self) -> None:
        types = [event["type"] for event in self.events if event["type"].startswith("tool.")]
        self.assertEqual(types, ["tool.call", "tool.start", "tool.result"])

    def test_the_result_is_paired_with_its_call(self) -> None:
        [call], [result] = self.payloads("tool.call"), self.payloads("tool.result")
        self.assertEqual(result["call_id"], call["call_id"])
        self.assertEqual((result["status"], result["exit_code"]), ("completed", 0))
        self.assertEqual(result["output"].strip(), "6")

    def test_the_next_request_shows_the_model_call_and_result(self) -> None:
        request = self.runner.model.requests[1]
        self.assertEqual([m.role for m in request], ["user", "assistant", "tool"])
        self.assertEqual(request[1].tool_calls[0].call_id, request[2].call_id)
        self.assertEqual(json.loads(request[2].content)["output"].strip(), "6")

    def test_the_run_completes_with_an_answer(self) -> None:
        self.assertEqual(self.payloads("session.stop")[0]["reason"], "completed")
        self.assertEqual(self.first, self.payloads("model.response")[1]["content"])


class ExerciseTest(unittest.TestCase):
    def test_a_pair_results(self) -> None:
        grade_pair_results(load(LESSON, "pair_results"))

    def test_b_word_count(self) -> None:
        grade_word_count(load(LESSON, "WordCount"))

    def test_c_result_status(self) -> None:
        grade_result_status(load(LESSON, "RESULT_STATUS"))

    def test_d_read_file(self) -> None:
        grade_read_file(load(LESSON, "ReadFile"))


class BashUnderTest:
    """The harness for the tool conformance kit around Bash, in a folder of its own."""

    lacks: Mapping[str, str] = {}
    limit = 1000

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)

    def build(self) -> Tool:
        for path in self._folder.iterdir():
            path.unlink()
        return Bash(str(self._folder), {"PATH": "/usr/bin:/bin"}, output_limit=self.limit)

    def world(self) -> object:
        return sorted((path.name, path.read_bytes()) for path in self._folder.iterdir())

    def good(self) -> str:
        return '{"command": "echo kept > note; cat note"}'

    def failing(self) -> str:
        return '{"command": "echo no >&2; exit 3"}'

    def bad(self) -> Mapping[str, str]:
        return {"blank": '{"command": " "}', "NUL": '{"command": "echo a\\u0000b"}'}

    def flooding(self) -> tuple[str, str, int]:
        text = "xx" + "\u4e16" * 1000
        return json.dumps({"command": f"printf %s {text}"}), text, self.limit


class ConformanceTest(unittest.TestCase):
    def test_bash_passes_the_kit_that_tools_are_put_through(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(check_tool(BashUnderTest(folder)), [])
