"""Target `session`: a file that may be anything is refused in one line, or is a whole session.

Of a file that the loader takes: each record comes back equal from what it would be written as; it
exports to a trace in which the validator finds nothing; it can be shown; and it opens under both
rules, which closes what was open, gives an equal replay the second time, and pairs each call of
the replay with one result.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from curriculum.core.errors import TraceError
from curriculum.core.messages import Message
from curriculum.core.trace import GoldenClock
from curriculum.sessions.disk import SystemDisk
from curriculum.sessions.errors import SessionDamagedError, SessionError
from curriculum.sessions.export import export_trace
from curriculum.sessions.listing import SessionFile, summarise
from curriculum.sessions.record import StoredRecord, decode, encode
from curriculum.sessions.replay import RULES, Replay
from curriculum.sessions.show import as_lines, as_row
from curriculum.sessions.store import SessionStore
from curriculum.trace.codes import Verdict
from curriculum.trace.engines import Engine, make_engine
from curriculum.trace.validate import Options, validate
from tests.fuzz.choices import ODD, Choices, spoil

NAME = "s-1"
TIMES = (
    "2026-01-01T00:00:00.000000Z",
    "2026-01-01T00:00:01.500000Z",
    "2025-12-31T23:59:60.999999Z",
    "2026-02-31T00:00:00.000000Z",
    "0001-01-01T00:00:00.000000Z",
    "9999-12-31T23:59:59.999999Z",
    "0000-01-01T00:00:00.000000Z",
    "10000-01-01T00:00:00.000000Z",
    "2026-13-01T00:00:00.000000Z",
    "2026-01-01T25:61:61.000000Z",
    "2026-01-01T00:00:00Z",
)
RAN = ("completed", "failed", "unknown")
STATUSES = ("denied", "invalid_arguments", "unknown_tool", "not_executed")
ENDINGS = ("completed", "failed", "cancelled", "interrupted")


@cache
def engine() -> Engine:
    return make_engine("fast")


@cache
def home() -> tuple[Path, tempfile.TemporaryDirectory[str]]:
    """A folder of this process's own, in memory where there is such a place."""
    fast = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = tempfile.TemporaryDirectory(dir=fast)
    (Path(folder.name) / "sessions").mkdir(mode=0o700)
    return Path(folder.name), folder


class QuickDisk(SystemDisk):
    """The disk without the wait."""

    def sync(self, fd: int) -> None:
        pass

    def sync_data(self, fd: int) -> None:
        pass


class Story:
    """Records that mostly fit each other, made up from the choices."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices
        self._tame = 1 + 20 * choices.number(4)  # a story in which all is odd is soon refused
        self._lines: list[bytes] = []
        self._turn = ""
        self._turns = self._calls = 0
        self._open: dict[str, bool] = {}  # call_id: has it started
        self._unknown: list[tuple[str, str]] = []

    def make(self) -> bytes:
        """The bytes of the file."""
        choices = self._choices
        self._put("session", {"session_id": NAME, **self._about()})
        while choices.left and len(self._lines) < 40:
            self._step()
        if choices.one_in(8):
            self._lines.append(b'{"session_ver\x00'[: choices.number(15)])
        return b"".join(self._lines)

    def _about(self) -> dict[str, Any]:
        choices = self._choices
        if not choices.number(2):
            return {}
        names = ("model", "harness", "max_turns", "x")
        return {"about": {choices.pick(names): self._odd(1) for _ in range(2)}}

    def _odd(self, usual: Any) -> Any:
        """The usual value, or seldom another."""
        return self._choices.pick(ODD) if self._choices.one_in(2 + self._tame) else usual

    def _is_odd(self) -> bool:
        return self._choices.one_in(8 + self._tame)

    def _put(self, kind: str, data: dict[str, Any], **more: Any) -> None:
        choices = self._choices
        fields: dict[str, Any] = {
            "session_version": "0.1",
            "sequence": len(self._lines),
            "timestamp": choices.pick(TIMES if self._is_odd() else TIMES[:6]),
            "kind": kind,
            **({} if kind == "session" else {"turn_id": self._turn}),
            **({"recovered": True} if self._is_odd() else {}),
            **more,
            "data": data,
        }
        if self._is_odd():
            fields = spoil(fields, choices)
        line = json.dumps(fields, ensure_ascii=bool(choices.number(2)))
        if self._is_odd() and self._is_odd():
            line = line.replace("1", "1e999", 1)
        self._lines.append(line.encode("utf-8", "surrogatepass") + b"\n")

    def _step(self) -> None:
        choices = self._choices
        what = choices.number(16)
        if not self._turn and (what < 12 or not self._unknown):
            self._turns += 1
            self._turn = f"turn-{self._turns}"
            self._put("user_input", {"content": choices.text()})
        elif not self._turn or (what == 15 and self._unknown):
            turn_id, call_id = choices.pick(self._unknown)
            by = choices.pick(("user", "harness", "policy"))
            self._put("outcome_acknowledged", {"call_id": call_id, "by": by}, turn_id=turn_id)
        elif self._open and what < 12:
            self._act(choices.pick(sorted(self._open)))
        elif what < 6:
            self._answer()
        else:
            self._put("turn_end", {"status": choices.pick(ENDINGS)})
            self._turn = ""

    def _answer(self) -> None:
        choices = self._choices
        calls = []
        for _ in range(choices.number(3)):
            self._calls += not self._is_odd()
            call_id = f"call-{self._calls}"
            name = choices.pick(("bash", "bash", "", "n" * 300))
            calls.append({"call_id": call_id, "name": name, "arguments": choices.text()})
            self._open[call_id] = False
        more = {"opaque": choices.pick(ODD)} if self._is_odd() else {}
        if choices.one_in(4):
            more = {"stop": self._odd(True), "usage": self._odd({})}
        self._put("model_response", {"content": choices.text(), "tool_calls": calls, **more})

    def _act(self, call_id: str) -> None:
        choices = self._choices
        if not self._open[call_id] and choices.number(3):
            display = {"command": choices.text(), "odd": self._odd(7)}
            self._put("tool_start", {"call_id": call_id, "display": display})
            self._open[call_id] = True
            return
        ran = self._open[call_id] != self._is_odd()
        status = choices.pick(RAN if ran else STATUSES)
        result = {"call_id": call_id, "status": status, "output": choices.text()}
        if choices.one_in(3):
            usual = {
                "exit_code": 1,
                "reason": "x",
                "truncated": True,
                "notes": [],
                "duration_us": 1,
            }
            name = choices.pick(sorted(usual))
            result[name] = self._odd(usual[name])
        self._put("tool_result", result)
        del self._open[call_id]
        if status == "unknown":
            self._unknown.append((self._turn, call_id))


# region: check
def check(data: bytes) -> str:
    """Hold the invariants for one input; returns what became of it. AssertionError: they broke."""
    file = data[1:] if data[:1] == b"\xff" else Story(Choices(data)).make()
    return check_file(file)


def check_file(file: bytes) -> str:
    """The same, for the bytes of a file."""
    path = home()[0] / "sessions" / f"{NAME}.jsonl"
    path.write_bytes(file)
    try:
        records = list(SessionFile(home()[0], NAME))
    except SessionDamagedError as fault:
        refused = fault
    else:
        return check_session(path, file, records)
    check_refusal(file, refused)
    return "refused"


def check_session(path: Path, file: bytes, records: Sequence[StoredRecord]) -> str:
    """A file that the loader takes."""
    check_records(records)
    check_trace(records)
    replays = [check_opened(path, file, rule) for rule in RULES]
    path.write_bytes(file)
    return "replayed" if replays[1].messages else "loaded"


# endregion


def is_one_line(text: str) -> bool:
    return text.isprintable() and len(text) < 1000


def check_refusal(file: bytes, refused: SessionDamagedError) -> None:
    """A damaged file is named as such, opens under no rule, and keeps its bytes."""
    assert is_one_line(str(refused)), str(refused)
    assert f"line {refused.line}: " in str(refused)
    assert as_row(summarise(str(home()[0]), NAME), 5).split("  ")[0] == NAME
    for rule in RULES:
        try:
            SessionStore.open(home()[0], NAME, rule=rule, disk=QuickDisk()).close()
            raise AssertionError("a damaged session was opened")
        except SessionError as fault:
            said = str(fault)
        assert said == str(refused)
    assert (home()[0] / "sessions" / f"{NAME}.jsonl").read_bytes() == file


def check_records(records: Sequence[StoredRecord]) -> None:
    """What was read could have been written, and can be shown."""
    for record in records:
        assert decode(encode(record)[:-1]) == record
        for line in as_lines(record):
            assert line.isprintable(), line


def check_trace(records: Sequence[StoredRecord]) -> Verdict:
    """The export is a trace without findings."""
    lines: list[str] = []
    with suppress(TraceError):  # more fields than a line can hold
        export_trace(records, lines.append)
    trace = "".join(lines).encode()
    report = validate(BytesIO(trace).read, engine(), Options(is_strict=True))
    found = [(one.line, one.code, one.pointer, one.message) for one in report.findings]
    assert not found, found
    assert report.verdict in (Verdict.COMPLETE, Verdict.OPEN)
    return report.verdict


def check_opened(path: Path, file: bytes, rule: Any) -> Replay:
    """Opening closes what was open; opening again finds the same and has nothing to do."""
    path.write_bytes(file)
    with SessionStore.open(home()[0], NAME, rule=rule, clock=GoldenClock(), disk=QuickDisk()) as s:
        first, recovery = s.replay, s.recovery
    if recovery.torn_path:
        os.unlink(recovery.torn_path)
    closed = path.read_bytes()
    assert closed.startswith(file[: len(file) - recovery.torn_bytes])
    records = list(SessionFile(home()[0], NAME))
    verdict = check_trace(records)
    assert (verdict == Verdict.COMPLETE) == any(one.kind == "turn_end" for one in records)
    with SessionStore.open(home()[0], NAME, rule=rule, clock=GoldenClock(), disk=QuickDisk()) as s:
        again = s.replay
        assert not s.recovery.turn_id
        assert not s.recovery.torn_bytes
    assert path.read_bytes() == closed
    assert again == first
    check_pairs(again.messages)
    return again


def check_pairs(messages: Sequence[Message]) -> None:
    """Each call has its one result before the next message of another kind."""
    waiting: list[str] = []
    for message in messages:
        if message.role == "tool":
            waiting.remove(str(message.call_id))
            continue
        assert not waiting, waiting
        waiting = [call.call_id for call in message.tool_calls]
    assert not waiting, waiting
