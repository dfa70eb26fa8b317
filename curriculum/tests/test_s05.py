"""s05: the demo does what the lesson promises, and the exercises are graded."""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
import unittest
from collections.abc import Mapping, Sequence

from curriculum.core.errors import JournalError
from curriculum.core.journal import Record
from curriculum.grading.crash_table import grade_crash_table
from curriculum.grading.exercise import load
from curriculum.grading.journal_conformance import check_journal
from curriculum.grading.jsonl_journal import grade_jsonl_journal
from curriculum.grading.s05 import grade_save_points
from curriculum.grading.sqlite_journal import grade_sqlite_journal
from curriculum.lessons.s05_sessions.demo import main
from curriculum.sessions.errors import SessionError, SessionNotFoundError
from curriculum.sessions.store import SessionStore

LESSON = "s05_sessions"
SAVED = ["user_input", "model_response", "tool_start", "tool_result", "model_response", "turn_end"]


class DemoTest(unittest.TestCase):
    def setUp(self) -> None:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            self.runner = main()
        lines = printed.getvalue().splitlines()
        self.looks = [line.split(" on disk: session ") for line in lines if " on disk: " in line]
        self.final = lines[len(self.looks)]
        self.events = [json.loads(line) for line in lines[len(self.looks) + 1 :]]

    def test_each_step_finds_the_one_before_it_on_disk(self) -> None:
        found = {moment.strip(): kinds.split() for moment, kinds in self.looks}
        self.assertEqual(
            found,
            {
                "before request 1": SAVED[:1],
                "before the approval": SAVED[:2],
                "before the command": SAVED[:3],
                "before request 2": SAVED[:4],
                "at the end": SAVED,
            },
        )

    def test_each_record_is_an_event_with_its_position(self) -> None:
        payloads = [e["payload"] for e in self.events if e["type"] == "journal.append"]
        wanted = [{"record_kind": kind, "position": n} for n, kind in enumerate(SAVED, 1)]
        self.assertEqual(payloads, wanted)

    def test_a_record_comes_before_what_it_is_about(self) -> None:
        types = [event["type"] for event in self.events]
        for type in ("user.message", "model.response", "tool.start", "tool.result"):
            self.assertEqual(types[types.index(type) - 1], "journal.append", type)

    def test_the_run_completes_with_an_answer(self) -> None:
        self.assertEqual(self.events[-1]["payload"]["reason"], "completed")
        self.assertEqual(self.final, "There are 6 words.")

    def test_a_named_directory_is_kept(self) -> None:
        with tempfile.TemporaryDirectory() as home:
            with contextlib.redirect_stdout(io.StringIO()):
                main(home)
            with open(os.path.join(home, "sessions", "session-1.jsonl")) as file:
                kinds = [json.loads(line)["kind"] for line in file]
        self.assertEqual(kinds, ["session", *SAVED])


class ExerciseTest(unittest.TestCase):
    def test_a_save_points(self) -> None:
        grade_save_points(load(LESSON, "save_points"))

    def test_b_jsonl_journal(self) -> None:
        grade_jsonl_journal(load(LESSON, "JsonlJournal"))

    def test_c_crash_table(self) -> None:
        grade_crash_table(load(LESSON, "CRASH_TABLE"))

    def test_d_sqlite_journal(self) -> None:
        grade_sqlite_journal(load(LESSON, "SqliteJournal"))


class StoreUnderTest:
    """The harness for the journal conformance kit around SessionStore."""

    lacks: Mapping[str, str] = {}

    def open(self, folder: str) -> SessionStore:
        try:
            return SessionStore.open(folder, "session-1")
        except SessionNotFoundError:
            return SessionStore.create(folder, "session-1")
        except SessionError as fault:
            raise JournalError(str(fault)) from None

    def records(self, folder: str) -> Sequence[Record]:
        with open(os.path.join(folder, "sessions", "session-1.jsonl"), "rb") as file:
            *lines, _ = file.read().split(b"\n")
        records = [json.loads(line) for line in lines]
        return [
            Record(record["kind"], record["turn_id"], record["data"])
            for record in records
            if record["kind"] != "session" and not record.get("recovered")
        ]


class ConformanceTest(unittest.TestCase):
    def test_the_session_store_passes_the_kit_that_journals_are_put_through(self) -> None:
        self.assertEqual(check_journal(StoreUnderTest()), [])
