"""s06: the demo does what the lesson promises, and the exercises are graded."""

from __future__ import annotations

import contextlib
import io
import json
import unittest
from collections.abc import Mapping, Sequence

from curriculum.core.journal import Record
from curriculum.core.messages import Message
from curriculum.grading.crash_conformance import check_store
from curriculum.grading.exercise import load
from curriculum.grading.recovery_table import grade_recovery_table
from curriculum.grading.s06 import grade_open_calls, grade_recover
from curriculum.grading.store_crashes import grade_store
from curriculum.lessons.s06_recovery.demo import main
from curriculum.sessions.errors import SessionNotFoundError
from curriculum.sessions.store import SessionStore

LESSON = "s06_recovery"
NOTICE = (
    "An interrupted tool turn was retained but excluded from context. "
    "Commands it started may already have run; none was retried."
)
KILLED = "session user_input model_response tool_start"
CLOSED = f"{KILLED} tool_result tool_result turn_end"


class DemoTest(unittest.TestCase):
    def setUp(self) -> None:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            self.runner = main()
        told, _, rest = printed.getvalue().rpartition("\n\n")
        self.told = {part.splitlines()[0]: part.splitlines()[1:] for part in told.split("\n\n")}
        self.final, *lines = rest.splitlines()
        self.events = [json.loads(line) for line in lines]

    def payloads(self, type: str) -> list[dict]:
        return [event["payload"] for event in self.events if event["type"] == type]

    def test_the_kill_hits_between_start_and_result(self) -> None:
        self.assertEqual(self.told["-- killed"], ["sent: Ada", f"on disk: {KILLED}"])

    def test_completed_only_tells_the_user_and_not_the_model(self) -> None:
        self.assertEqual(
            self.told["-- rule completed-only"],
            ["sent: Ada", f"on disk: {CLOSED}", "replayed: nothing", NOTICE],
        )

    def test_with_evidence_replays_the_turn_and_has_the_outcome_acknowledged(self) -> None:
        told = self.told["-- rule with-evidence"]
        self.assertEqual(told[1:3], [f"on disk: {CLOSED}", "replayed: user assistant tool tool"])
        self.assertTrue(told[3].startswith("acknowledged:"))

    def test_nothing_is_sent_twice(self) -> None:
        told = self.told["-- rule with-evidence"]
        self.assertEqual(told[0], "sent: Ada")
        self.assertEqual(told[-2], "sent: Ada Grace")

    def test_the_trace_begins_with_recovery_and_acknowledgement(self) -> None:
        types = [event["type"] for event in self.events[:3]]
        self.assertEqual(types, ["session.start", "session.recover", "outcome.acknowledge"])
        [recovery] = self.payloads("session.recover")
        self.assertEqual(recovery["closed"], {"not_executed": 1, "unknown": 1})
        self.assertEqual(
            self.payloads("outcome.acknowledge"), [{"by": "user", "call_id": "call-1"}]
        )

    def test_the_model_reads_one_result_for_each_call(self) -> None:
        request = self.runner.model.requests[0]
        results = {m.call_id: json.loads(m.content)["status"] for m in request if m.role == "tool"}
        self.assertEqual(results, {"call-1": "unknown", "call-2": "not_executed"})

    def test_the_run_completes_with_an_answer(self) -> None:
        self.assertEqual(self.payloads("session.stop")[0]["reason"], "completed")
        self.assertEqual(self.final, self.payloads("model.response")[-1]["content"])


class ExerciseTest(unittest.TestCase):
    def test_a_open_calls(self) -> None:
        grade_open_calls(load(LESSON, "open_calls"))

    def test_b_recover(self) -> None:
        grade_recover(load(LESSON, "recover"))

    def test_c_recovery_table(self) -> None:
        grade_recovery_table(load(LESSON, "RECOVERY_TABLE"))

    def test_d_store(self) -> None:
        grade_store(load(LESSON, "Store"))


class OpenSession:
    """A SessionStore in the words of the crash conformance kit."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store

    @property
    def messages(self) -> Sequence[Message]:
        return self._store.replay.messages

    @property
    def unacknowledged(self) -> Sequence[str]:
        return [outcome.call.call_id for outcome in self._store.unacknowledged]

    def append(self, record: Record) -> int:
        return self._store.append(record)

    def acknowledge(self, call_id: str) -> None:
        for outcome in self._store.unacknowledged:
            if outcome.call.call_id == call_id:
                self._store.acknowledge(outcome)

    def close(self) -> None:
        self._store.close()


class StoreUnderTest:
    """The harness for the crash conformance kit around SessionStore."""

    lacks: Mapping[str, str] = {}

    def open(self, folder: str) -> OpenSession:
        try:
            store = SessionStore.open(folder, "session-1", rule="with-evidence")
        except SessionNotFoundError:
            store = SessionStore.create(folder, "session-1", rule="with-evidence")
        return OpenSession(store)


class ConformanceTest(unittest.TestCase):
    def test_the_session_store_passes_the_kit_that_stores_are_put_through(self) -> None:
        self.assertEqual(check_store(StoreUnderTest()), [])
