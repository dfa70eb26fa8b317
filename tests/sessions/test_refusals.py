"""Every refusal of a session, to the letter: what it is about, where, and what to do."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from curriculum.core.errors import JournalError
from curriculum.core.journal import Record
from curriculum.sessions.errors import (
    RecordError,
    SessionBusyError,
    SessionDamagedError,
    SessionError,
    SessionExistsError,
    SessionNotFoundError,
)
from curriculum.sessions.ids import known_ids, resolve_prefix
from curriculum.sessions.record import decode
from curriculum.sessions.store import SessionStore
from tests.sessions.parts import (
    NAME,
    QuickDisk,
    create,
    file_of,
    records_of,
    reopen,
    saved_turn,
)

LOST = "the record was not kept, and the session takes no more"
PLACE = "home/sessions/s-1.jsonl"
HOME = Path("home")
INPUT = Record("user_input", "turn-1", {"content": "x"})
CALL = {"call_id": "c", "name": "mark", "arguments": "{}"}
ASKS = Record("model_response", "turn-1", {"content": "", "tool_calls": [CALL]})
STARTS = Record("tool_start", "turn-1", {"call_id": "c", "display": {}})
ENDS = Record("turn_end", "turn-1", {"status": "completed"})


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def result(status: str, call_id: str = "c") -> Record:
    return Record("tool_result", "turn-1", {"call_id": call_id, "status": status, "output": ""})


def answer(**data: object) -> Record:
    return Record("model_response", "turn-1", {"content": "", "tool_calls": [], **data})


def said_by_user(content: object, **more: object) -> Record:
    return Record("user_input", "turn-1", {"content": content, **more})


def ended(status: str) -> Record:
    return Record("turn_end", "turn-1", {"status": status})


def said(refused: type[Exception], act: Callable[[], object]) -> str:
    with pytest.raises(refused) as caught:
        act()
    assert caught.type is refused
    return str(caught.value)


# What stands before, what comes next, and what is said of it.
OUT_OF_PLACE: list[tuple[list[Record], Record, str]] = [
    ([INPUT], INPUT, "the turn 'turn-1' has not ended"),
    ([], ENDS, "the turn 'turn-1' is not open"),
    ([INPUT], Record("turn_end", "turn-2", ENDS.data), "the turn 'turn-2' is not open"),
    ([INPUT, ASKS], ENDS, "the call 'c' has no result yet"),
    ([INPUT, ASKS], answer(), "the call 'c' has no result yet"),
    ([INPUT], STARTS, "no call 'c' is open"),
    ([INPUT], result("denied"), "no call 'c' is open"),
    ([INPUT, ASKS, STARTS], STARTS, "the call 'c' has started already"),
    ([INPUT, ASKS], result("failed"), "the call 'c' has not started, its result is failed"),
    ([INPUT, ASKS, STARTS], result("denied"), "the call 'c' has started, its result is denied"),
    (
        [INPUT, ASKS, result("denied")],
        ASKS,
        "the call_id 'c' was used before in this turn",
    ),
    (
        [INPUT],
        answer(tool_calls=[CALL, CALL]),
        "the call_id 'c' was used before in this turn",
    ),
    (
        [],
        Record("session", "", {"session_id": NAME}),  # type: ignore[arg-type]
        "a header stands on the first line, and only there",
    ),
    (
        [],
        Record("outcome_acknowledged", "turn-1", {"call_id": "c", "by": "user"}),  # type: ignore[arg-type]
        "the call 'c' has no unknown outcome",
    ),
]


@pytest.mark.parametrize(("before", "record", "why"), OUT_OF_PLACE)
def test_a_record_out_of_its_place_is_told_and_the_next_one_is_kept(
    before: list[Record], record: Record, why: str
) -> None:
    store = create(HOME, disk=QuickDisk())
    for one in before:
        store.append(one)
    kept = file_of(HOME).read_bytes()
    wanted = f"{PLACE}: {why}; the record was not kept"
    assert said(JournalError, lambda: store.append(record)) == wanted
    assert file_of(HOME).read_bytes() == kept


deep: Any = []
for _ in range(62):
    deep = [deep]
NO_VALUE = "has no right value:"
# One field of a record, and what is said when it cannot be kept.
ODD: list[tuple[Record, str]] = [
    (Record("note", "turn-1", {}), 'the kind "note" is unknown'),  # type: ignore[arg-type]
    (Record("user_input", "", INPUT.data), 'turn_id has no right value: ""'),
    (Record("user_input", "turn-1", {}), "data.content is missing"),
    (said_by_user(["x"]), f"data.content {NO_VALUE} a list"),
    (said_by_user(("x",)), f"data.content {NO_VALUE} a list"),
    (said_by_user({}), f"data.content {NO_VALUE} a dict"),
    (said_by_user(1.5), f"data.content {NO_VALUE} a float"),
    (said_by_user(None), f"data.content {NO_VALUE} null"),
    (said_by_user("", y=1, x=1), 'data."y" is an unknown field'),
    (ended("x" * 58), f'data.status {NO_VALUE} "{"x" * 58}"'),
    (ended("x" * 59), f"data.status {NO_VALUE} a text of 61 characters"),
    (answer(opaque=deep), "nesting is deeper than 64"),
    (answer(opaque={1, 2}), "the model_response record is not JSON: set is not JSON"),
    (answer(opaque={1: 1, "1": 1}), "not JSON: a key stands twice"),
]


@pytest.mark.parametrize(("record", "why"), ODD)
def test_a_record_that_could_not_be_read_back_is_told(record: Record, why: str) -> None:
    store = create(HOME, disk=QuickDisk())
    wanted = f"{PLACE}: {why}; the record was not kept"
    assert said(JournalError, lambda: store.append(record)) == wanted


# A line as another program may leave it, and what is said of it.
LINES: list[tuple[bytes, str]] = [
    (b"\xff", "not UTF-8"),
    (b'"\\ud800"', "a text holds a lone surrogate"),
    (b'{"a":1,"a":1}', "not JSON: a key stands twice"),
    (b"[NaN]", "not JSON: NaN is not JSON"),
    (b"[-Infinity]", "not JSON: -Infinity is not JSON"),
    (b"[1e" + b"9" * 30 + b"]", f"not JSON: no float is as large as 1e{'9' * 18}"),
    (b"[" * 65 + b"]" * 65, "nesting is deeper than 64"),
    (b"[" * 64 + b"]" * 64, "not a record: an object is needed"),
    (b"x", "not JSON: Expecting value: line 1 column 1 (char 0)"),
    (b"{}", "session_version is null; this program knows 0.1"),
    (b'{"session_version":"0.1"}', "the kind null is unknown"),
    (b'{"session_version":"0.1","kind":["session"]}', "the kind a list is unknown"),
]


@pytest.mark.parametrize(("line", "why"), LINES, ids=[why for _, why in LINES])
def test_a_line_that_is_no_record_is_told(line: bytes, why: str) -> None:
    assert said(RecordError, lambda: decode(line)) == why
    data = saved_turn(HOME, 0)
    file_of(HOME).write_bytes(data + line + b"\n")
    wanted = f"{PLACE}: line 5: {why}; the session was left as it is"
    assert said(SessionDamagedError, lambda: reopen(HOME)) == wanted


def test_a_header_of_another_session_and_a_late_header_are_told() -> None:
    data = saved_turn(HOME, 0)
    file_of(HOME).write_bytes(data.replace(b'"session_id":"s-1"', b'"session_id":"s-2"'))
    wanted = "line 1: the header names another session than the file; the session was left as it is"
    assert said(SessionDamagedError, lambda: reopen(HOME)) == f"{PLACE}: {wanted}"
    lines = data.splitlines(keepends=True)
    file_of(HOME).write_bytes(b"".join(lines[1:]).replace(b'"sequence":1', b'"sequence":0'))
    wanted = "line 1: a header stands on the first line, and only there"
    assert said(SessionDamagedError, lambda: reopen(HOME)).startswith(f"{PLACE}: {wanted};")


class Failing(QuickDisk):
    """From now on takes five bytes of a write, or none; `cuts` says whether it can be cut back."""

    def __init__(self, taken: int, cuts: bool) -> None:
        self.is_now, self._taken, self._cuts = False, taken, cuts

    def write(self, fd: int, data: bytes) -> int:
        if not self.is_now:
            return super().write(fd, data)
        if not self._taken:
            raise OSError(errno.EIO, "planted")
        return super().write(fd, data[: self._taken])

    def truncate(self, fd: int, size: int) -> None:
        if self.is_now and not self._cuts:
            raise OSError(errno.EIO, "planted")
        super().truncate(fd, size)


@pytest.mark.parametrize("cuts", [True, False])
@pytest.mark.parametrize("taken", [0, 5])
def test_a_disk_that_fails_is_told_and_so_is_what_may_be_left_of_the_record(
    taken: int, cuts: bool
) -> None:
    disk = Failing(taken, cuts)
    store = create(HOME, disk=disk)
    kept = file_of(HOME).read_bytes()
    disk.is_now = True
    why = "only 5 of 143 bytes were written (errno 0)"
    wanted = f"{PLACE}: {why if taken else 'Input/output error (errno 5)'}; {LOST}"
    if not cuts:
        wanted += "; a part of it may be in the file: the next opening sets that aside"
    for _ in range(2):
        assert said(JournalError, lambda: store.append(INPUT)) == wanted
        disk.is_now = False
    store.close()
    data = file_of(HOME).read_bytes()
    assert (data == kept) == (cuts or not taken)
    with reopen(HOME) as store:
        assert store.recovery.torn_bytes == len(data) - len(kept)
        assert store.append(INPUT) == 1


def test_a_file_that_was_changed_deleted_or_closed_is_told() -> None:
    store = create(HOME)
    with file_of(HOME).open("ab") as file:
        file.write(b"x")
    changed = f"{PLACE}: the file was changed by another program while open; {LOST}"
    assert said(JournalError, lambda: store.append(INPUT)) == changed
    file_of(HOME).unlink()
    assert said(JournalError, lambda: store.append(INPUT)) == changed, "it stays at the first"
    store.close()
    closed = f"{PLACE}: the session is closed; the record was not kept"
    assert said(JournalError, lambda: store.append(INPUT)) == closed
    store = create(HOME)
    file_of(HOME).unlink()
    deleted = f"{PLACE}: the file was deleted while open; {LOST}"
    assert said(JournalError, lambda: store.append(INPUT)) == deleted


def test_what_stands_where_a_session_should_is_told() -> None:
    gone = f"{PLACE}: No such file or directory (errno 2); `list` shows all"
    assert said(SessionNotFoundError, lambda: reopen(HOME)) == gone
    with create(HOME):
        busy = "the session is busy: it is open in another process; close it there"
        assert said(SessionBusyError, lambda: reopen(HOME)) == f"{PLACE}: {busy}"
    there = f"{PLACE}: the session is there already; open it, or choose another id"
    assert said(SessionExistsError, lambda: create(HOME)) == there
    file_of(HOME).rename("elsewhere")
    file_of(HOME).symlink_to(Path("elsewhere").resolve())
    linked = f"{PLACE}: a symbolic link; a session has to be a file itself"
    assert said(SessionError, lambda: reopen(HOME)) == linked
    file_of(HOME).unlink()
    os.mkfifo(file_of(HOME))
    odd = f"{PLACE}: not a regular file; a session has to be one"
    assert said(SessionError, lambda: reopen(HOME)) == odd


def test_a_file_that_was_replaced_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    saved_turn(HOME, 0)
    real = fcntl.flock

    def replace(fd: int, how: int) -> None:
        Path("other").write_bytes(file_of(HOME).read_bytes())
        Path("other").rename(file_of(HOME))
        real(fd, how)

    monkeypatch.setattr(fcntl, "flock", replace)
    wanted = f"{PLACE}: the file was replaced while it was opened; try again"
    assert said(SessionError, lambda: reopen(HOME)) == wanted


def test_a_file_that_cannot_be_made_private_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    saved_turn(HOME, 0)
    file_of(HOME).chmod(0o644)

    def refuse(fd: int, mode: int) -> None:
        raise PermissionError(errno.EPERM, "planted")

    monkeypatch.setattr(os, "fchmod", refuse)
    wanted = f"{PLACE}: Operation not permitted (errno 1)"
    assert said(SessionError, lambda: reopen(HOME)) == wanted
    file_of(HOME).unlink()
    before = os.umask(0o777)
    try:
        assert said(SessionError, lambda: create(HOME)) == wanted
    finally:
        os.umask(before)
    assert not file_of(HOME).exists()


def test_a_folder_that_cannot_be_listed_is_told() -> None:
    HOME.mkdir()
    (HOME / "sessions").touch()
    wanted = "home/sessions: Not a directory (errno 20)"
    assert said(SessionError, lambda: known_ids("home")) == wanted


def test_an_outcome_that_nobody_has_acknowledged_is_told() -> None:
    lines = saved_turn(HOME, 1).splitlines(keepends=True)
    file_of(HOME).write_bytes(b"".join(lines[:4]))
    with reopen(HOME, "with-evidence") as store:
        wanted = "the outcome of call 'call-0' is unknown and nobody has acknowledged it"
        assert said(JournalError, lambda: store.append(INPUT)) == wanted
        store.acknowledge(store.unacknowledged[0])
        assert records_of(file_of(HOME).read_bytes())[-1]["data"]["by"] == "user"
        assert store.append(INPUT) == 7
    with reopen(HOME) as store:
        assert store.append(Record("user_input", "turn-2", INPUT.data)) == 9


def test_an_interrupted_record_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    store = create(HOME)

    def interrupt(record: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(store._state, "advance", interrupt)
        with pytest.raises(KeyboardInterrupt):
            store.append(INPUT)
    wanted = f"{PLACE}: a record was interrupted; {LOST}"
    assert said(JournalError, lambda: store.append(ENDS)) == wanted


FIVE = "s0, s1, s2, s3, s4"


@pytest.mark.parametrize(("count", "named"), [(2, "s0, s1"), (5, FIVE), (6, f"{FIVE} and 1 more")])
def test_sessions_of_one_prefix_are_named_up_to_five(count: int, named: str) -> None:
    ids = [f"s{number}" for number in range(count)]
    wanted = f"'s' begins {count} sessions: {named}; give more characters"
    assert said(SessionNotFoundError, lambda: resolve_prefix("s", ids)) == wanted
    wanted = "no session begins with 'x'; `mino sessions` shows them all"
    assert said(SessionNotFoundError, lambda: resolve_prefix("x", ids, "mino sessions")) == wanted


def test_a_long_id_is_told_by_its_beginning() -> None:
    rules = "use 1 to 64 letters, digits, '.', '_' or '-', not beginning with '.' or '-'"
    for given, shown in (("/" * 64, "/" * 64), ("/" * 65, "/" * 64 + "…")):
        with pytest.raises(SessionError) as caught:
            SessionStore.open(HOME, given)
        assert str(caught.value) == f"'{shown}' is no session id: {rules}"


def test_a_wrong_rule_is_told() -> None:
    wanted = "no replay rule is named 'all'; there are completed-only, with-evidence"
    assert said(ValueError, lambda: create(HOME, rule="all")) == wanted
