"""Graders of s06 A and B: sessions cut off behind every record, and recoveries cut off as well."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Mapping, Sequence

from curriculum.core.journal import Record
from curriculum.grading.mistakes import attempt, mistake, quote
from curriculum.grading.scratch import scratch
from curriculum.grading.session_records import SESSION, batch, conversation, state_after, stored
from curriculum.sessions.errors import RecordError, SessionError
from curriculum.sessions.record import encode
from curriculum.sessions.store import SessionStore

__unittest = True

STEPS = 's06, "Step by step"'
INVARIANTS = 's06, "Invariants"'

Recover = Callable[[Sequence[Record]], Sequence[Record]]


def grade_open_calls(open_calls: Callable[[Sequence[Record]], Mapping[str, str]]) -> None:
    """A. Every beginning of a few conversations."""
    for seed in range(8):
        records = conversation(random.Random(seed))
        for size in range(len(records) + 1):
            _check_open(open_calls, records[:size])
    records = batch(9)
    for size in range(len(records) + 1):
        _check_open(open_calls, records[:size])


def _check_open(
    open_calls: Callable[[Sequence[Record]], Mapping[str, str]], records: list[Record]
) -> None:
    wanted = {
        call_id: "unknown" if call.has_started else "not_executed"
        for call_id, call in state_after(records).open_calls.items()
    }
    what = f"after {_tail(records)}"
    with attempt(f"open_calls {what}", STEPS):
        got = open_calls(tuple(records))
    if not isinstance(got, Mapping):
        raise mistake("a dict from call_id to status", quote(got), STEPS)
    for call_id, status in wanted.items():
        if got.get(call_id) != status:
            saw = f"you say {quote(got.get(call_id, 'nothing of it'))}"
            raise mistake(f"{what} the call {call_id!r} to be {status}", saw, INVARIANTS)
    if extra := sorted(map(str, got.keys() - wanted.keys())):
        raise mistake(f"{what} no call but {list(wanted)} to be open", f"also {extra}", STEPS)
    if list(got) != list(wanted):
        raise mistake(f"{what} the order {list(wanted)}", f"you have {list(got)}", STEPS)


def _tail(records: Sequence[Record]) -> str:
    """The end of the records, for a message."""
    last = [f"{r.kind} {r.data.get('call_id', '')}".strip() for r in records[-4:]]
    return f"{len(records)} records, the last ones {', '.join(last) or 'none'},"


def grade_recover(recover: Recover) -> None:
    """B. From every beginning of a session, and from every beginning of what recovery adds."""
    for seed in range(6):
        records = conversation(random.Random(seed))
        for size in range(len(records) + 1):
            _check_recovery(recover, records[:size], opens=size % 4 == seed % 4)
    records = batch(9)
    for size in range(len(records) + 1):
        _check_recovery(recover, records[:size], opens=False)


def _check_recovery(recover: Recover, records: list[Record], opens: bool) -> None:
    what = f"after {_tail(records)}"
    before = list(records)
    added = _call(recover, records, what)
    if records != before:
        raise mistake("what was given to stay as it is", "recover changed the list", STEPS)
    _check_added(records, added, what)
    for size in range(1, len(added) + 1):
        rest = _call(recover, [*records, *added[:size]], what)
        if rest != added[size:]:
            expected = f"{what} and {size} of its own records, a second recovery to add the rest"
            saw = f"it adds {_kinds(rest)}, not {_kinds(added[size:])}"
            raise mistake(expected, saw, INVARIANTS)
    if opens:
        _check_opens([*records, *added], what)


def _call(recover: Recover, records: Sequence[Record], what: str) -> list[Record]:
    with attempt(f"recover {what}", STEPS):
        added = recover(records)
    if not isinstance(added, (list, tuple)) or not all(isinstance(r, Record) for r in added):
        raise mistake("a list of Records", quote(added), STEPS)
    return list(added)


def _check_added(records: Sequence[Record], added: Sequence[Record], what: str) -> None:
    """Each added record can stand where it stands, and says what the records allow to be said."""
    state = state_after(records)
    for record in added:
        if state.turn_id and record.turn_id != state.turn_id:
            expected = f"{what} records of the open turn {state.turn_id!r}"
            raise mistake(expected, f"one is of {record.turn_id!r}", STEPS)
        if record.kind not in ("tool_result", "turn_end"):
            expected = f"{what} recovery to add results and an end, and to start nothing"
            raise mistake(expected, f"it adds a {record.kind}", INVARIANTS)
        if record.kind == "tool_result":
            call = state.open_calls.get(str(record.data.get("call_id")))
            if call is None:
                saw = f"it adds one for {quote(record.data.get('call_id'))}"
                raise mistake(f"{what} results for open calls only", saw, INVARIANTS)
            status = "unknown" if call.has_started else "not_executed"
            if record.data.get("status") != status:
                expected = f"{what} the status {status} for {call.call.call_id!r}"
                raise mistake(expected, quote(record.data.get("status")), INVARIANTS)
            if not str(record.data.get("output", "")).strip():
                raise mistake("an output that tells the model what this means", "none", STEPS)
        elif record.data.get("status") != "interrupted":
            saw = quote(record.data.get("status"))
            raise mistake(f"{what} a turn that ends as interrupted", saw, INVARIANTS)
        try:
            state = state_after([*records, *added[: added.index(record) + 1]])
        except RecordError as fault:
            raise mistake(f"{what} records that can stand there", str(fault), INVARIANTS) from None
    if state.turn_id:
        left = f"the turn is open, {len(state.open_calls)} calls have no result"
        raise mistake(f"{what} nothing left open", left, INVARIANTS)


def _check_opens(records: Sequence[Record], what: str) -> None:
    """A session of these records opens, and opening it adds nothing."""
    with scratch() as home:
        os.mkdir(os.path.join(home, "sessions"))
        path = os.path.join(home, "sessions", f"{SESSION}.jsonl")
        try:
            content = b"".join(map(encode, stored(records)))
            with open(path, "wb") as file:
                file.write(content)
            with SessionStore.open(home, SESSION) as store:
                closed = store.recovery.turn_id
        except (RecordError, SessionError) as fault:
            raise mistake(f"{what} a session that opens", str(fault), STEPS) from None
        with open(path, "rb") as file:
            if closed or file.read() != content:
                saw = "SessionStore had to close something"
                raise mistake(f"{what} nothing left to do", saw, INVARIANTS)


def _kinds(records: Sequence[Record]) -> str:
    return ", ".join(f"{r.kind} {r.data.get('call_id', '')}".strip() for r in records) or "nothing"
