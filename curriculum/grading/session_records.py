"""Conversations as records: made at random, but in the order in which the loop writes them."""

from __future__ import annotations

import random
from collections.abc import Sequence

from curriculum.core.journal import Record
from curriculum.core.trace import GoldenClock, format_timestamp
from curriculum.sessions.record import StoredRecord
from curriculum.sessions.recovery import closing_records
from curriculum.sessions.state import SessionState

SESSION = "session-1"


def conversation(rng: random.Random, turns: int = 3) -> list[Record]:
    """Whole turns with batches of calls, allowed and refused; later turns use call_ids again."""
    records: list[Record] = []
    for number in range(turns):
        turn, free = f"turn-{rng.randrange(10**6)}-{number}", iter(rng.sample(range(12), 12))
        records.append(Record("user_input", turn, {"content": f"do {rng.randrange(100)}"}))
        for _ in range(rng.randrange(3)):
            ids = [f"call-{next(free)}" for _ in range(rng.randint(1, 3))]
            records.append(_answer(turn, ids))
            for call_id in ids:
                records += _outcome(rng, turn, call_id)
        records.append(_answer(turn, []))
        records.append(Record("turn_end", turn, {"status": "completed"}))
    return records


def batch(count: int) -> list[Record]:
    """A turn that was killed when all calls of one answer had started, and none had ended."""
    ids = [f"call-{count - number}" for number in range(count)]
    starts = [Record("tool_start", "turn-1", {"call_id": i, "display": {}}) for i in ids]
    return [Record("user_input", "turn-1", {"content": "all"}), _answer("turn-1", ids), *starts]


def _answer(turn: str, ids: Sequence[str]) -> Record:
    calls = [{"call_id": call_id, "name": "echo", "arguments": "{}"} for call_id in ids]
    sealed = {"opaque": [{"sealed": turn}]} if calls else {}
    return Record("model_response", turn, {"content": "", "tool_calls": calls, **sealed})


def _outcome(rng: random.Random, turn: str, call_id: str) -> list[Record]:
    status = rng.choice(["completed", "failed", "denied", "invalid_arguments"])
    about = {"call_id": call_id}
    result = Record("tool_result", turn, {**about, "status": status, "output": "so"})
    if status in ("completed", "failed"):
        return [Record("tool_start", turn, {**about, "display": {"text": "so"}}), result]
    return [result]


def stored(records: Sequence[Record]) -> list[StoredRecord]:
    """The records as a session file holds them, after its header."""
    time = format_timestamp(GoldenClock().read()[0])
    header = StoredRecord(0, time, "session", "", {"session_id": SESSION})
    return [
        header,
        *(
            StoredRecord(number, time, record.kind, record.turn_id, record.data)
            for number, record in enumerate(records, 1)
        ),
    ]


def state_after(records: Sequence[Record]) -> SessionState:
    """Where a session stands after them. Raises RecordError for one that cannot stand there."""
    state = SessionState(SESSION)
    for record in stored(records):
        state.check(record)
        state.advance(record)
    return state


def closed(records: Sequence[Record]) -> list[Record]:
    """The records, and behind them what a restart owes."""
    state = state_after(records)
    owed = [Record(c.kind, state.turn_id, c.data) for c in closing_records(state)]  # type: ignore[arg-type]
    return [*records, *owed]
