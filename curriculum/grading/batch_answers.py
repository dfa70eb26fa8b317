"""Grader of s04 C: a table of answers, put together for whole batches and shown by real runs."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence

from curriculum.core.approval import ApprovalRequest, Decision, HumanApprover
from curriculum.core.loop import AgentRunner
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.tools import ToolBox
from curriculum.grading.approval_under_test import Named
from curriculum.grading.mistakes import mistake
from curriculum.grading.prediction_table import rows_to_grade
from curriculum.grading.result_status import Probe, probe_call

__unittest = True

DESIGN = 's04, "Exercises", C'
TYPED = ("y", "n", "end of input", "Ctrl+C")
BROKEN = ("maybe", "the model says allow", "the approver crashes")
SILENT = ("not asked: granted", "not asked: bad arguments", "not asked: no such tool")
ANSWERS = (*TYPED, "too late", *BROKEN, *SILENT)
NEVER = "never reached"
COLUMNS = ("decision", "by", "status", "starts", "stop")

Row = Mapping[str, object]


class _Plays:
    """An approver that gives the answers of a batch, one a question."""

    def __init__(self, batch: Sequence[str]) -> None:
        self._answers = iter([answer for answer in batch if answer not in SILENT])
        self._person = HumanApprover(self._ask)
        self._typed = ""

    def decide(self, request: ApprovalRequest) -> Decision:
        answer = next(self._answers)
        if answer in TYPED:
            self._typed = answer
            return self._person.decide(request)
        if answer == "too late":
            return Decision("expired", "policy", "clock")
        if answer == "maybe":
            return Decision("maybe", "user", "tester")  # type: ignore[arg-type]
        if answer == "the model says allow":
            return Decision("allow", "model", "model")  # type: ignore[arg-type]
        raise ConnectionError("nobody there")

    def _ask(self, request: ApprovalRequest) -> str | None:
        if self._typed == "Ctrl+C":
            raise KeyboardInterrupt
        return None if self._typed == "end of input" else self._typed


def observe_batch(batch: Sequence[str], seed: int = 0) -> Sequence[Row]:
    """What really becomes of the calls of one answer: a row for each, read from the trace."""
    first = random.Random(seed).randrange(10**6)
    ids = [f"id-{first + number}" for number in range(len(batch))]
    calls = []
    for call_id, answer in zip(ids, batch, strict=True):
        call = probe_call(call_id, "work")
        if answer == "not asked: granted":
            call = ToolCall(call_id, "granted", call.arguments)
        elif answer == "not asked: bad arguments":
            call = ToolCall(call_id, "probe", '{"undo": 1}')
        elif answer == "not asked: no such tool":
            call = ToolCall(call_id, "fiction", call.arguments)
        calls.append(call)
    model = ScriptedModel([ModelTurn(tool_calls=tuple(calls)), ModelTurn("done")])
    tools = ToolBox([Probe(), Named("granted", Probe())], granted=["granted"])
    run = AgentRunner(model, tools, approver=_Plays(batch)).run("go")
    rows: list[dict[str, object]] = []
    for call_id in ids:
        events = {e.type: e for e in run.events if e.payload.get("call_id") == call_id}
        decision = events.get("approval.decision")
        rows.append(
            {
                "decision": decision.payload["decision"] if decision else None,
                "by": decision.actor["kind"] if decision else None,
                "status": events["tool.result"].payload["status"],
                "starts": "tool.start" in events,
                "stop": None,
            }
        )
    if run.stop_reason != "completed":
        # The last call with a decision is the one that ended the run: a question can, a tool that
        # works cannot.
        ended = max(number for number, row in enumerate(rows) if row["decision"])
        rows[ended]["stop"] = run.stop_reason
    return rows


def predict_batch(table: Mapping[str, Row], batch: Sequence[str]) -> list[tuple[str, Row]]:
    """Name and row of the table for each call of the batch."""
    rows: list[tuple[str, Row]] = []
    for answer in batch:
        ended = any(row["stop"] is not None for _, row in rows)
        name = NEVER if ended else answer
        rows.append((name, table[name]))
    return rows


def batches(rng: random.Random) -> Iterator[tuple[str, ...]]:
    """Every batch of one and of two calls, then longer ones."""
    yield from itertools.product(ANSWERS, repeat=1)
    yield from itertools.product(ANSWERS, repeat=2)
    for size in (3, 4, 8):
        for _ in range(20):
            yield tuple(
                rng.choices(ANSWERS, weights=[1 + (a in ("y", "n")) for a in ANSWERS], k=size)
            )


def grade_batch_answers(table: Mapping[str, Row]) -> None:
    """C. What the rows predict, put together, against what the trace shows; short batches first."""
    names = (*ANSWERS, NEVER)
    good, problems = rows_to_grade(table, names, COLUMNS, DESIGN)
    findings = {problem: problem for problem in problems}
    size = 1
    for batch in batches(random.Random(5)):
        if not set(batch) <= set(good) or (len(batch) > 1 and NEVER not in good):
            continue  # a row is missing that this batch may need
        if findings and len(batch) > size:
            break  # what longer batches show would follow from the same rows
        size = len(batch)
        real = observe_batch(batch, size)
        for number, (name, row) in enumerate(predict_batch(table, batch)):
            for column in COLUMNS:
                mine, seen = row[column], real[number][column]
                if (mine, type(mine)) == (seen, type(seen)):
                    continue
                where = f" (call {number + 1} of {list(batch)})" if size > 1 else ""
                finding = f"you predict {column} {mine!r}, the trace shows {seen!r}{where}"
                findings.setdefault(f"{name} {column}", f"{name!r}: {finding}")
    if findings:
        saw = "\n    - ".join(["", *findings.values()])
        raise mistake("predictions that come true", saw, DESIGN)
