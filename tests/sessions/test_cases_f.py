"""Section F of the cases: session file, recovery, locks; one test or more for each row."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from curriculum.core.errors import JournalError
from curriculum.core.journal import Record
from curriculum.core.model import ScriptedModel
from curriculum.sessions.errors import (
    SessionBusyError,
    SessionDamagedError,
    SessionError,
    SessionIdError,
    SessionNotFoundError,
)
from curriculum.sessions.store import SessionStore
from tests.golden import ROOT
from tests.sessions.parts import (
    NAME,
    Marker,
    QuickDisk,
    SpyDisk,
    StrictModel,
    create,
    file_of,
    marks,
    records_of,
    reopen,
    runner_of,
    saved_turn,
    script,
)

HOLDER = """
import sys
from curriculum.sessions.store import SessionStore
store = SessionStore.{how}(sys.argv[1], "s-1")
print("held", flush=True)
sys.stdin.read()
"""


def hold(home: Path, how: str = "open") -> subprocess.Popen[str]:
    """Another process that holds the session until it is killed or its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER.format(how=how), str(home)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stdout.readline() == "held\n"
    return process


def listing(home: Path) -> dict[str, tuple[int, int, bytes]]:
    """Everything under `home` that a write would change."""
    return {
        str(path): (path.stat().st_mode, path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(home.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("calls", [1, 2, 3])
def test_f1_a_session_cut_at_any_byte_opens_with_all_whole_records(
    calls: int, tmp_path: Path
) -> None:
    data = saved_turn(tmp_path, calls)
    path = file_of(tmp_path)
    for length in range(len(data) + 1):
        for torn in path.parent.glob("*.torn-*"):
            torn.unlink()
        path.write_bytes(data[:length])
        whole = records_of(data[:length])
        tail = data[:length][data[:length].rfind(b"\n") + 1 :]
        with reopen(tmp_path, disk=QuickDisk()) as store:
            assert store.recovery.torn_bytes == len(tail), length
            aside = [file.read_bytes() for file in path.parent.glob("*.torn-*")]
            assert aside == ([tail] if tail else []), length
            after = records_of(path.read_bytes())
            assert after[: len(whole)] == whole, length
            assert path.read_bytes().endswith(b"\n"), length
            model = StrictModel()
            assert runner_of(store, model, Marker(tmp_path / "marks")).run("on").error is None
    assert marks(tmp_path / "marks") == [f"call-{number}" for number in range(calls)]


def test_f2_a_torn_tail_is_never_glued_to_the_next_record(tmp_path: Path) -> None:
    data = saved_turn(tmp_path, 0)
    path = file_of(tmp_path)
    path.write_bytes(data + b'{"session_version":"0.1","seq')
    with reopen(tmp_path) as store:
        assert store.recovery.torn_path == str(path.with_name("s-1.torn-1"))
        store.append(Record("user_input", "turn-2", {"content": "next"}))
    lines = path.read_bytes().split(b"\n")
    assert lines[:-2] == data.split(b"\n")[:-1]
    assert json.loads(lines[-2])["data"] == {"content": "next"}
    assert Path(store.recovery.torn_path).read_bytes() == b'{"session_version":"0.1","seq'


@pytest.mark.parametrize(
    "garbage", [b"garbage", b"", b"{}", b"[1]", b"\xff\xfe", b'{"session_version":"0.1"', b"\0\0"]
)
@pytest.mark.parametrize("line", [1, 3, 5])
def test_f3_damage_in_the_middle_is_refused_with_its_line(
    garbage: bytes, line: int, tmp_path: Path
) -> None:
    lines = saved_turn(tmp_path, 1).splitlines(keepends=True)
    lines[line - 1] = garbage + b"\n"
    path = file_of(tmp_path)
    path.write_bytes(b"".join(lines))
    before = listing(tmp_path)
    with pytest.raises(SessionDamagedError, match=f"line {line}: ") as caught:
        reopen(tmp_path)
    assert caught.value.line == line
    assert str(path) in str(caught.value)
    assert listing(tmp_path) == before


def test_f3_a_line_that_is_missing_is_refused(tmp_path: Path) -> None:
    lines = saved_turn(tmp_path, 1).splitlines(keepends=True)
    del lines[4]
    file_of(tmp_path).write_bytes(b"".join(lines))
    with pytest.raises(SessionDamagedError, match="line 5: sequence is 5, expected 4"):
        reopen(tmp_path)


def test_f3_a_whole_last_line_that_is_garbage_is_damage_and_no_torn_tail(tmp_path: Path) -> None:
    data = saved_turn(tmp_path, 1)
    file_of(tmp_path).write_bytes(data + b"garbage\n")
    with pytest.raises(SessionDamagedError, match="line 8: not JSON"):
        reopen(tmp_path)


@pytest.mark.parametrize("char", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1e", "\r"])
def test_f5_text_with_any_line_end_but_lf_comes_back_as_it_was(char: str, tmp_path: Path) -> None:
    text = f"a{char}b\nc"
    with create(tmp_path) as store:
        runner_of(store, StrictModel(f"answer {text}"), Marker(tmp_path / "marks")).run(text)
    data = file_of(tmp_path).read_bytes()
    assert len(data.decode().splitlines()) == 4, "no reader's idea of a line breaks a record"
    with reopen(tmp_path) as store:
        assert [m.content for m in store.replay.messages] == [text, f"answer {text}"]


def test_f5_a_record_with_raw_separators_is_read_too(tmp_path: Path) -> None:
    data = saved_turn(tmp_path, 0).replace(b'"content":"go"', '"content":"g\u2028\x85o"'.encode())
    file_of(tmp_path).write_bytes(data)
    with reopen(tmp_path) as store:
        assert store.replay.messages[0].content == "g\u2028\x85o"


@pytest.mark.parametrize("kind", ["user_input", "model_response", "tool_start", "tool_result"])
@pytest.mark.parametrize(
    ("step", "number"),
    [("write", errno.ENOSPC), ("write", errno.EIO), ("sync_data", errno.EIO), ("write", 0)],
    ids=["full", "broken-write", "broken-sync", "short-write"],
)
def test_f7_f8_a_record_that_cannot_be_kept_stops_the_chat_with_path_and_errno(
    kind: str, step: str, number: int, tmp_path: Path
) -> None:
    disk = FaultyDisk(kind, step, number)
    store = create(tmp_path, disk=disk)
    runner = runner_of(store, ScriptedModel(script(1)), Marker(tmp_path / "marks"))
    result = runner.run("go")
    kept = [record["kind"] for record in records_of(file_of(tmp_path).read_bytes())]
    order = ["user_input", "model_response", "tool_start", "tool_result"]
    before = order.index(kind)
    assert result.error is not None
    assert (result.stop_reason, result.error.kind) == ("failed", "journal")
    expected = os.strerror(number or errno.ENOSPC)
    assert result.error.message.startswith(f"{store.path}: {expected} (errno ")
    assert kept == ["session", *order[:before]], "the file is cut back to what was kept"
    assert len(result.messages) == min(before, 2), "memory has not moved"
    assert marks(tmp_path / "marks") == (["call-0"] if kind == "tool_result" else [])
    size = file_of(tmp_path).stat().st_size
    with pytest.raises(JournalError, match="takes no more"):
        store.append(Record("user_input", "turn-9", {"content": "more"}))
    assert file_of(tmp_path).stat().st_size == size
    store.close()
    with reopen(tmp_path) as store:
        assert store.recovery.unknown == (("call-0",) if kind == "tool_result" else ())
        assert store.recovery.torn_bytes == 0


class FaultyDisk(QuickDisk):
    """Fails at one step for the first record of a kind, and from then on at every write.

    Number 0 is a short write: a part is taken, then the disk is full.
    """

    def __init__(self, kind: str, step: str, number: int, can_truncate: bool = True) -> None:
        self._kind, self._step, self._number = f'"kind":"{kind}"'.encode(), step, number
        self._can_truncate = can_truncate
        self._is_now = False

    def write(self, fd: int, data: bytes) -> int:
        if self._is_now:
            raise OSError(errno.ENOSPC, "full")
        self._is_now = self._kind in data
        if self._is_now and self._step == "write":
            if not self._number:
                return super().write(fd, data[: len(data) // 2])
            raise OSError(self._number, "planted")
        return super().write(fd, data)

    def sync_data(self, fd: int) -> None:
        if self._is_now and self._step == "sync_data":
            raise OSError(self._number, "planted")

    def truncate(self, fd: int, size: int) -> None:
        if not self._can_truncate:
            raise OSError(errno.EIO, "planted")
        super().truncate(fd, size)


def test_f7_a_half_written_line_that_cannot_be_cut_off_is_set_aside_later(tmp_path: Path) -> None:
    store = create(tmp_path, disk=FaultyDisk("tool_start", "write", 0, can_truncate=False))
    runner = runner_of(store, ScriptedModel(script(1)), Marker(tmp_path / "marks"))
    result = runner.run("go")
    assert result.error is not None
    assert "a part of it may be in the file" in result.error.message
    assert marks(tmp_path / "marks") == []
    store.close()
    assert not file_of(tmp_path).read_bytes().endswith(b"\n")
    with reopen(tmp_path) as store:
        assert store.recovery.torn_bytes > 0
        assert store.recovery.not_executed == ("call-0",)


def test_f10_a_second_process_finds_the_session_busy_and_writes_nothing(tmp_path: Path) -> None:
    data = saved_turn(tmp_path, 1)
    path = file_of(tmp_path)
    path.write_bytes(data + b"torn")  # even what recovery would mend is left alone
    with reopen(tmp_path):
        pass
    path.write_bytes(path.read_bytes() + b"torn again")
    path.chmod(0o640)
    before = listing(tmp_path)
    holder = subprocess.Popen(
        [sys.executable, "-c", LOCK_ONLY, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert holder.stdout
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(SessionBusyError, match="busy") as caught:
            reopen(tmp_path)
        assert str(path) in str(caught.value)
        assert listing(tmp_path) == before
    finally:
        holder.communicate()


LOCK_ONLY = """
import fcntl, sys
file = open(sys.argv[1])
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


def test_f10_the_same_process_finds_its_own_session_busy(tmp_path: Path) -> None:
    with create(tmp_path), pytest.raises(SessionBusyError):
        reopen(tmp_path)
    reopen(tmp_path).close()


def test_f10_a_file_that_may_not_be_opened_is_not_called_busy(tmp_path: Path) -> None:
    saved_turn(tmp_path, 0)

    class Forbidden(QuickDisk):
        def __init__(self, number: int) -> None:
            self._number = number

        def open(self, path: str, flags: int) -> int:
            raise OSError(self._number, "planted")

    for number in (errno.EACCES, errno.EROFS, errno.EPERM):
        with pytest.raises(SessionError, match=rf"s-1\.jsonl: .* \(errno {number}\)") as caught:
            reopen(tmp_path, disk=Forbidden(number))
        assert not isinstance(caught.value, SessionBusyError)


def test_f10_a_lock_that_cannot_be_taken_is_not_called_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved_turn(tmp_path, 0)

    def refuse(fd: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "planted")

    monkeypatch.setattr("curriculum.sessions.lock.fcntl.flock", refuse)
    with pytest.raises(SessionError, match=rf"\(errno {errno.ENOLCK}\)") as caught:
        reopen(tmp_path)
    assert not isinstance(caught.value, SessionBusyError)


def test_f10_a_file_that_is_replaced_while_it_is_opened_is_not_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock is on an inode: it says nothing about another file that now has the name."""
    data = saved_turn(tmp_path, 0)
    real = fcntl.flock

    def replace(fd: int, how: int) -> None:
        other = tmp_path / "other"
        other.write_bytes(data + b"torn")
        other.rename(file_of(tmp_path))
        real(fd, how)

    monkeypatch.setattr("curriculum.sessions.lock.fcntl.flock", replace)
    with pytest.raises(SessionError, match="was replaced while it was opened"):
        reopen(tmp_path)
    assert file_of(tmp_path).read_bytes() == data + b"torn"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_f12_the_lock_is_free_as_soon_as_its_holder_is_dead(number: int, tmp_path: Path) -> None:
    saved_turn(tmp_path, 0)
    holder = hold(tmp_path)
    with pytest.raises(SessionBusyError):
        reopen(tmp_path)
    holder.send_signal(number)
    holder.communicate()
    reopen(tmp_path).close()


@pytest.fixture
def _umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes(home: Path) -> list[str]:
    paths = (home, home / "sessions", file_of(home))
    return [oct(stat.S_IMODE(path.stat().st_mode)) for path in paths]


@pytest.mark.usefixtures("_umask")
@pytest.mark.parametrize("mask", [0o022, 0o000, 0o777, 0o077])
def test_f13_modes_are_private_under_any_umask(mask: int, tmp_path: Path) -> None:
    home = tmp_path / "home"
    os.umask(mask)
    create(home).close()
    os.umask(0o022)
    assert modes(home) == ["0o700", "0o700", "0o600"]


def test_f13_what_was_there_before_is_made_private_but_for_the_home_itself(tmp_path: Path) -> None:
    home = tmp_path / "home"
    saved_turn(home, 1)
    home.chmod(0o755)
    file_of(home).parent.chmod(0o777)
    file_of(home).chmod(0o666)
    file_of(home).write_bytes(file_of(home).read_bytes() + b"torn")
    with reopen(home) as store:
        assert modes(home) == ["0o755", "0o700", "0o600"]
        assert stat.S_IMODE(os.stat(store.recovery.torn_path).st_mode) == 0o600


def test_f13_a_shared_directory_is_not_taken_from_the_others(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    create(tmp_path).close()
    assert modes(tmp_path) == ["0o1777", "0o700", "0o600"]


BAD_IDS = [
    "../x",
    "/etc/x",
    ".",
    "..",
    "a/b",
    "x" * 300,
    "x" * 65,
    "a\0b",
    "a\n",
    "-x",
    ".x",
    "a b",
    "é",
    "a\u202eb",
]


@pytest.mark.parametrize("session_id", [*BAD_IDS, ""])
@pytest.mark.parametrize("how", ["create", "open"])
def test_f14_a_bad_id_is_refused_before_any_file_is_touched(
    how: str, session_id: str, tmp_path: Path
) -> None:
    if how == "create" and not session_id:
        return  # an empty id asks for a random one
    disk = SpyDisk()
    with pytest.raises(SessionIdError, match="is no session id") as caught:
        getattr(SessionStore, how)(tmp_path / "home", session_id, disk=disk)
    assert str(caught.value).isprintable()
    assert disk.steps == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("session_id", ["a", "x" * 64, "s-1.2_3", "..." + "a"][:3])
def test_f14_a_good_id_is_the_name_of_the_file(session_id: str, tmp_path: Path) -> None:
    with SessionStore.create(tmp_path, session_id) as store:
        assert store.path == str(tmp_path / "sessions" / f"{session_id}.jsonl")
        assert store.session_id == session_id


def test_f14_random_ids_are_ids_and_differ(tmp_path: Path) -> None:
    with SessionStore.create(tmp_path) as one, SessionStore.create(tmp_path) as other:
        assert one.session_id != other.session_id
        assert one.session_id.startswith("session-")


@pytest.mark.parametrize("inner", ["../x", "s-2", "/etc/x"])
def test_f14_an_id_inside_the_file_redirects_nothing(inner: str, tmp_path: Path) -> None:
    data = saved_turn(tmp_path, 0)
    changed = data.replace(b'"session_id":"s-1"', f'"session_id":"{inner}"'.encode())
    file_of(tmp_path).write_bytes(changed)
    with pytest.raises(SessionDamagedError, match="line 1: "):
        reopen(tmp_path)
    assert [path.name for path in file_of(tmp_path).parent.iterdir()] == ["s-1.jsonl"]


@pytest.mark.parametrize("linked", ["home", "sessions"])
def test_f15_a_directory_may_be_a_link(linked: str, tmp_path: Path) -> None:
    real, home = tmp_path / "real", tmp_path / "home"
    real.mkdir(mode=0o755)
    if linked == "home":
        home.symlink_to(real)
    else:
        home.mkdir()
        (home / "sessions").symlink_to(real)
    saved_turn(home, 1)
    with reopen(home) as store:
        assert store.replay.turns == 1
    assert list(real.rglob("s-1.jsonl"))
    assert stat.S_IMODE(real.stat().st_mode) == 0o755  # it was there before


def test_f15_a_session_file_that_is_a_link_is_refused(tmp_path: Path) -> None:
    data = saved_turn(tmp_path, 0)
    target = tmp_path / "elsewhere.jsonl"
    file_of(tmp_path).rename(target)
    file_of(tmp_path).symlink_to(target)
    with pytest.raises(SessionError, match="a symbolic link"):
        reopen(tmp_path)
    with pytest.raises(SessionError, match="is there already"):
        create(tmp_path)
    assert target.read_bytes() == data


def test_f15_a_link_to_nowhere_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "sessions").mkdir()
    file_of(tmp_path).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SessionError, match="is there already"):
        create(tmp_path)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("what", ["fifo", "directory"])
def test_f15_what_is_not_a_regular_file_is_refused_without_waiting(
    what: str, tmp_path: Path
) -> None:
    (tmp_path / "sessions").mkdir()
    os.mkfifo(file_of(tmp_path)) if what == "fifo" else file_of(tmp_path).mkdir()
    with pytest.raises(SessionError, match=r"s-1\.jsonl: (not a regular file|Is a directory)"):
        reopen(tmp_path)


def test_f16_a_home_that_cannot_be_used_is_one_line_with_path_and_errno(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "sessions").touch()
    cases: list[tuple[Path, int, Path]] = [
        (file, errno.ENOTDIR, file),
        (file / "below", errno.ENOTDIR, file),
        (tmp_path / "home", errno.ENOTDIR, tmp_path / "home" / "sessions"),
    ]
    for home, number, path in cases:
        for how in (create, reopen):
            with pytest.raises(SessionError) as caught:
                how(home)
            said = str(caught.value)
            assert str(path) in said
            assert "errno" in said
            assert "\n" not in said
            assert "delete" not in said
            if how is create:
                assert f"(errno {number})" in said


def test_f16_a_home_that_is_not_there_yet_is_made(tmp_path: Path) -> None:
    home = tmp_path / "not" / "yet"
    create(home).close()
    assert modes(home) == ["0o700", "0o700", "0o600"]


READ_ONLY_HOME = """
import os, sys
from curriculum.sessions.errors import SessionError
from curriculum.sessions.store import SessionStore
if os.getuid() == 0:
    os.setgid(65534); os.setuid(65534)
try:
    getattr(SessionStore, sys.argv[2])(sys.argv[1], "s-1")
except SessionError as fault:
    print(fault)
"""


@pytest.mark.parametrize("how", ["create", "open"])
def test_f16_a_read_only_home_is_told_by_path_and_errno(how: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    saved_turn(home, 0)
    for path in (file_of(home), file_of(home).parent, home):
        path.chmod(0o444 if path.is_file() else 0o555)
    for path in (tmp_path, *tmp_path.parents):
        if path == tmp_path or path.name.startswith(("pytest-", "popen-")):
            path.chmod(0o755)
    run = subprocess.run(
        [sys.executable, "-c", READ_ONLY_HOME, str(home), how],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    home.chmod(0o755)
    assert run.stderr == ""
    assert len(run.stdout.splitlines()) == 1
    assert str(home) in run.stdout
    assert "(errno " in run.stdout or "is there already" in run.stdout


def test_f19_a_kill_after_the_start_is_unknown_and_is_acknowledged_first(tmp_path: Path) -> None:
    lines = saved_turn(tmp_path, 1).splitlines(keepends=True)
    assert marks(tmp_path / "marks") == ["call-0"]
    file_of(tmp_path).write_bytes(b"".join(lines[:4]))
    with reopen(tmp_path, "with-evidence") as store:
        assert store.recovery.unknown == ("call-0",)
        outcome = store.unacknowledged[0]
        assert (outcome.call.call_id, outcome.display) == ("call-0", {"arguments": '{"n":0}'})
        model = StrictModel()
        runner = runner_of(store, model, Marker(tmp_path / "marks"))
        result = runner.turn("on")
        assert result.error is not None
        assert "nobody has acknowledged it" in result.error.message
        assert model.requests == [], "the model is not asked before the user has acknowledged"
        store.acknowledge(outcome)
        assert store.unacknowledged == ()
        runner = runner_of(store, model, Marker(tmp_path / "marks"))
        assert runner.run("on").error is None
        told = [m for m in model.requests[0] if m.role == "tool"]
        assert json.loads(told[0].content)["status"] == "unknown"
    assert marks(tmp_path / "marks") == ["call-0"], "it is never run again"
    with reopen(tmp_path, "with-evidence") as store:
        assert store.unacknowledged == (), "an acknowledgement is for good"


@pytest.mark.parametrize("calls", [1, 2, 3])
def test_f20_a_kill_after_the_answer_gives_each_call_not_executed(
    calls: int, tmp_path: Path
) -> None:
    lines = saved_turn(tmp_path, calls).splitlines(keepends=True)
    (tmp_path / "marks").unlink()
    file_of(tmp_path).write_bytes(b"".join(lines[:3]))
    names = tuple(f"call-{n}" for n in range(calls))
    with reopen(tmp_path, "with-evidence") as store:
        assert store.recovery.not_executed == names
        assert store.unacknowledged == ()
        model = StrictModel()
        assert runner_of(store, model, Marker(tmp_path / "marks")).run("on").error is None
        told = [m for m in model.requests[0] if m.role == "tool"]
        assert tuple(m.call_id for m in told) == names
        assert {json.loads(m.content)["status"] for m in told} == {"not_executed"}
    assert marks(tmp_path / "marks") == []


def test_f22_the_name_of_a_new_session_is_synced_before_it_is_given_out(tmp_path: Path) -> None:
    disk = SpyDisk()
    home = tmp_path / "home"
    create(home, disk=disk).close()
    header = (file_of(home)).read_bytes()
    assert disk.steps == [
        ("sync", tmp_path.name),  # that `home` exists
        ("sync", "home"),  # that `sessions` exists
        ("open", "s-1.jsonl"),
        ("write", header),
        ("sync_data", "s-1.jsonl"),
        ("sync", "sessions"),  # that the file exists
    ]


def test_f22_a_name_that_was_not_synced_is_synced_at_the_next_opening(tmp_path: Path) -> None:
    saved_turn(tmp_path, 0)
    disk = SpyDisk()
    reopen(tmp_path, disk=disk).close()
    assert ("sync", "sessions") in disk.steps
    assert not [name for name, _ in disk.steps if name in ("write", "truncate")]


def changed(data: bytes, line: int, **fields: Any) -> bytes:
    lines = data.splitlines(keepends=True)
    record = json.loads(lines[line])
    for name, value in fields.items():
        target = record if name in record or name == "extra" else record["data"]
        if value is None:
            del target[name]
        else:
            target[name] = value
    lines[line] = json.dumps(record).encode() + b"\n"
    return b"".join(lines)


@pytest.mark.parametrize(
    ("line", "fields", "why"),
    [
        (1, {"kind": "note"}, 'the kind "note" is unknown'),
        (1, {"session_version": "0.2"}, 'session_version is "0.2"; this program knows 0.1'),
        (1, {"session_version": None}, "session_version is null"),
        (1, {"content": 5}, "data.content has no right value: 5"),
        (1, {"content": None}, "data.content is missing"),
        (1, {"sequence": "1"}, 'sequence has no right value: "1"'),
        (1, {"sequence": 1.0}, "sequence has no right value"),
        (1, {"sequence": True}, "sequence has no right value: true"),
        (1, {"timestamp": "now"}, 'timestamp has no right value: "now"'),
        (1, {"turn_id": None}, "turn_id is missing"),
        (1, {"turn_id": ""}, "turn_id has no right value"),
        (1, {"extra": 1}, '"extra" is an unknown field'),
        (2, {"tool_calls": "call-0"}, "data.tool_calls has no right value"),
        (2, {"tool_calls": [{"call_id": "call-0"}]}, "data.tool_calls has no right value: a list"),
        (3, {"call_id": 7}, "data.call_id has no right value: 7"),
        (3, {"call_id": "other"}, "no call 'other' is open"),
        (4, {"status": "done"}, 'data.status has no right value: "done"'),
        (4, {"call_id": "call-9"}, "no call 'call-9' is open"),
        (5, {"turn_id": "turn-7"}, "the turn 'turn-7' is not open"),
        (6, {"status": "unknown"}, 'data.status has no right value: "unknown"'),
        (0, {"kind": "user_input"}, "turn_id is missing"),
    ],
)
def test_f23_a_record_of_another_shape_is_refused_and_nothing_is_loaded(
    line: int, fields: dict[str, Any], why: str, tmp_path: Path
) -> None:
    data = changed(saved_turn(tmp_path, 1), line, **fields)
    file_of(tmp_path).write_bytes(data)
    with pytest.raises(SessionDamagedError) as caught:
        reopen(tmp_path)
    assert f"line {line + 1}: " in str(caught.value)
    assert why in str(caught.value)
    assert file_of(tmp_path).read_bytes() == data


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b'"content":"go","content":"went"', "a key stands twice"),
        (b'"content":NaN', "NaN is not JSON"),
        (b'"content":"\\ud83d"', "a lone surrogate"),
        (b'"content":' + b"[" * 100_000, "nesting is deeper than 64"),
    ],
)
def test_f23_json_that_readers_disagree_about_is_refused(
    text: bytes, why: str, tmp_path: Path
) -> None:
    data = saved_turn(tmp_path, 0).replace(b'"content":"go"', text)
    file_of(tmp_path).write_bytes(data)
    with pytest.raises(SessionDamagedError, match=f"line 2: .*{why}"):
        reopen(tmp_path)


def test_a_session_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(SessionNotFoundError, match=r"No such file or directory \(errno 2\)"):
        reopen(tmp_path / "home")
    assert list(tmp_path.iterdir()) == []
    assert NAME == "s-1"
