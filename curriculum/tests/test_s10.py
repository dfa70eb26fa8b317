"""s10: the demo does what the lesson promises, and the exercises are graded."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import unittest
from collections.abc import Mapping
from pathlib import Path

from curriculum.core.tools import Tool
from curriculum.grading.batch_outcomes import grade_outcomes
from curriculum.grading.exercise import load
from curriculum.grading.path_groups import grade_groups_by_path
from curriculum.grading.s10 import grade_overlaps, grade_reads_together
from curriculum.grading.tool_conformance import check_tool
from curriculum.lessons.s10_concurrency.demo import main
from curriculum.tools.edit_file import EditFile
from curriculum.tools.read_file import ReadFile

LESSON = "s10_concurrency"


class DemoTest(unittest.TestCase):
    def setUp(self) -> None:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            self.runner = main()
        self.events = [json.loads(line) for line in printed.getvalue().splitlines()[1:]]

    def steps(self, kind: str) -> list[str]:
        """The call_ids of all events of that kind, in order."""
        return [e["payload"]["call_id"] for e in self.events if e["type"] == f"tool.{kind}"]

    def test_three_reads_start_before_the_first_has_its_result(self) -> None:
        types = [e["type"] for e in self.events if e["type"] in ("tool.start", "tool.result")]
        self.assertEqual(types[:6], ["tool.start"] * 3 + ["tool.result"] * 3)

    def test_each_edit_has_its_result_before_the_next_call_starts(self) -> None:
        types = [e["type"] for e in self.events if e["type"] in ("tool.start", "tool.result")]
        self.assertEqual(types[6:10], ["tool.start", "tool.result"] * 2)

    def test_results_are_in_call_order(self) -> None:
        self.assertEqual(self.steps("result"), self.steps("call"))

    def test_a_read_after_the_edit_sees_it(self) -> None:
        outputs = {
            e["payload"]["call_id"]: e["payload"]["output"]
            for e in self.events
            if e["type"] == "tool.result"
        }
        self.assertEqual((outputs["call-1"], outputs["call-6"]), ("1.2\n", "1.3\n"))

    def test_only_edits_were_asked_about(self) -> None:
        asked = [e["payload"] for e in self.events if e["type"] == "approval.request"]
        self.assertEqual([payload["call_id"] for payload in asked], ["call-4", "call-5"])
        self.assertIn("- 1.2\n", asked[0]["display"]["diff"])


class ExerciseTest(unittest.TestCase):
    def test_a_overlaps(self) -> None:
        grade_overlaps(load(LESSON, "overlaps"))

    def test_b_reads_together(self) -> None:
        grade_reads_together(load(LESSON, "ReadsTogether"))

    def test_c_outcomes(self) -> None:
        grade_outcomes(load(LESSON, "OUTCOMES"))

    def test_d_groups_by_path(self) -> None:
        grade_groups_by_path(load(LESSON, "groups_by_path"))


class FilesUnderTest:
    """The harness for the tool conformance kit around one of the two tools."""

    lacks: Mapping[str, str] = {}
    limit = 1000

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)

    def build(self) -> Tool:
        for path in self._folder.iterdir():
            path.unlink()
        (self._folder / "note").write_text("to be or not\n")
        (self._folder / "long").write_text("xx" + "\u4e16" * 1000)
        return ReadFile(str(self._folder), self.limit)

    def world(self) -> object:
        return sorted((path.name, path.read_bytes()) for path in self._folder.iterdir())

    def good(self) -> str:
        return '{"path": "note"}'

    def failing(self) -> str:
        return '{"path": "missing"}'

    def bad(self) -> Mapping[str, str]:
        return {"up": '{"path": "../note"}', "absolute": '{"path": "/note"}'}

    def flooding(self) -> tuple[str, str, int]:
        return '{"path": "long"}', "xx" + "\u4e16" * 1000, self.limit


class EditUnderTest(FilesUnderTest):
    lacks: Mapping[str, str] = {"bounded output": "it puts out one line"}

    def build(self) -> Tool:
        super().build()
        return EditFile(str(self._folder))

    def good(self) -> str:
        return '{"path": "note", "old": "or not", "new": "or"}'

    def failing(self) -> str:
        return '{"path": "note", "old": "nowhere", "new": "there"}'

    def bad(self) -> Mapping[str, str]:
        return {"nothing to replace": '{"path": "note", "old": "", "new": "x"}'}


class ConformanceTest(unittest.TestCase):
    def test_both_tools_pass_the_kit_that_tools_are_put_through(self) -> None:
        for under_test in (FilesUnderTest, EditUnderTest):
            with tempfile.TemporaryDirectory() as folder:
                self.assertEqual(check_tool(under_test(folder)), [])
