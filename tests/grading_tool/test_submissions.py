"""Submissions in the box: none passes that has not earned it, and all leave nothing behind."""

from __future__ import annotations

import hashlib
import os
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Sequence
from io import BufferedReader
from pathlib import Path

import pytest

from curriculum.grading.cli.catalogue import ROOT, Lesson, read_lessons
from curriculum.grading.cli.faults import CommandError
from curriculum.grading.submission import digests, grading, isolation, repository
from curriculum.grading.submission.commands import chosen, read_hidden
from curriculum.grading.submission.grading import Report, Terms, grade, work_of
from curriculum.grading.submission.isolation import (
    BUBBLEWRAP,
    UNSHARE,
    best_box,
    why_not,
)
from tests.grading_tool.attacks import ATTACKS, GOOD, HEAD, body

A = ["s01.a"]
IDS = 200  # for the boxes of one process that tests; others test at the same time


@pytest.fixture(autouse=True)
def own_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process in a box of ours is known by its user."""
    first = isolation.OUTER_IDS[0] + IDS * os.getpid()
    monkeypatch.setattr(isolation, "OUTER_IDS", range(first, first + IDS))


def lessons(words: Sequence[str]) -> list[Lesson]:
    return chosen(read_lessons(), words)


def handed_in(folder: Path, text: str, lesson: str = "s01_agent_loop") -> Path:
    path = folder / lesson / "exercises.py"
    path.parent.mkdir(parents=True)
    path.write_text(HEAD + text, "utf-8")
    return folder


def graded(path: Path, seconds: float = 60.0, hidden: dict[str, str] | None = None) -> Report:
    return grade(work_of(path, Terms(tuple(lessons(A)), hidden or {}, seconds=seconds)))


def refused(path: Path) -> str:
    with pytest.raises(CommandError) as caught:
        graded(path)
    return str(caught.value)


def left_over() -> list[str]:
    """Processes of our boxes that are still there."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if folder.stat().st_uid in isolation.OUTER_IDS and (folder / "cmdline").read_bytes():
                found.append(folder.name)
        except OSError:
            continue
    return found


def wait_until(is_so: Callable[[], object]) -> None:
    """What was killed is there until the kernel has taken it down."""
    deadline = time.monotonic() + 60
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.02)  # looks again; the processes looked for are no children of ours
    assert is_so()


def test_this_system_can_isolate_submissions() -> None:
    assert best_box() in (BUBBLEWRAP, UNSHARE)
    assert why_not(UNSHARE) == ""


@pytest.mark.parametrize("name", ATTACKS)
def test_a_submission_gets_what_it_has_earned_and_leaves_nothing(name: str, tmp_path: Path) -> None:
    text, outcome, said = ATTACKS[name]
    may_be_endless = outcome == "failed" and said in ("", "did not come to an end within")
    report = graded(handed_in(tmp_path, text), 3.0 if may_be_endless else 60.0)
    [result] = report.results
    assert (result.outcome, report.fault) == (outcome, ""), result.said
    assert said in result.said
    wait_until(lambda: not left_over())


FORGE = """
while frame:
    if "tell" in frame.f_locals and "names" in frame.f_locals:
        frame.f_locals["tell"](frame.f_locals["names"][0], "passed")
        os._exit(0)
    frame = frame.f_back
"""
WAYS = {
    "asked for": "frame = sys._getframe()",
    "of a fault": "try: 1 / 0\nexcept Exception as e: frame = e.__traceback__.tb_frame",
    "by a name that is put together": "frame = getattr(sys, '_get' + 'frame')()",
    "of a generator": "def g():\n    yield [x.gi_frame for x in held][0].f_back\n"
    "held = []\nx = g()\nheld.append(x)\nframe = next(x)",
    "inspected": "import inspect\nframe = inspect.currentframe()",
    "inspected in a stack": "import inspect\nframe = inspect.stack()[0].frame",
    "walked": "import traceback\nframe = next(traceback.walk_stack(None))[0]",
    "of all threads": "frame = list(sys._current_frames().values())[0]",
    "by the garbage collector": "import gc, types\n"
    "frame = [x for x in gc.get_objects() if isinstance(x, types.FrameType)][-1]",
    "in a text": "space = {'sys': sys}\nexec('frame = sys._getframe()', space)\n"
    "frame = space['frame']",
    "in a text that says it is of the library": "import os.path, enum\nspace = {'sys': sys}\n"
    "exec(compile('frame = sys._getframe()', enum.__file__, 'exec'), space)\n"
    "frame = space['frame']",
}


@pytest.mark.parametrize("way", WAYS)
def test_who_looks_for_the_frames_of_the_judge_is_told_before_a_verdict_can_be_forged(
    way: str, tmp_path: Path
) -> None:
    text = "import json, os, sys\n" + body(WAYS[way] + FORGE)
    [result] = graded(handed_in(tmp_path, text)).results
    assert (result.outcome, "not its own" in result.said) == ("tampered", True), result.said


def test_a_function_that_writes_is_not_changed_on_the_way_to_the_parent(tmp_path: Path) -> None:
    text = "import os\nreal = os.write\n" + body(
        "os.write = lambda fd, data: real(fd, data.replace(b'failed', b'passed')"
        ".replace(b'tampered', b'passed')) and len(data)"
    )
    [result] = graded(handed_in(tmp_path, text)).results
    assert (result.outcome, result.said) == ("tampered", "the code under test has changed os.write")


def test_code_that_prints_a_traceback_or_makes_a_class_has_done_no_wrong(tmp_path: Path) -> None:
    text = "import collections, dataclasses, enum, logging, traceback, typing, warnings\n" + body(
        "try: 1 / 0\nexcept Exception: traceback.print_exc()\n"
        "traceback.format_stack()\nlogging.warning('so')\nwarnings.warn('so', stacklevel=1)\n"
        "P = collections.namedtuple('P', 'x')\nE = enum.Enum('E', 'A')\n"
        "Q = typing.NamedTuple('Q', [('x', int)])\nD = dataclasses.make_dataclass('D', ['x'])\n"
        "return tuple(dict(role=m.role, content=m.content) for m in ())"
    )
    [result] = graded(handed_in(tmp_path, text)).results
    assert result.outcome == "failed", result.said


@pytest.mark.parametrize("lesson", [lesson.short for lesson in read_lessons()])
def test_the_reference_passes_in_the_box(lesson: str, tmp_path: Path) -> None:
    [one] = lessons([lesson])
    for folder in {one.folder, "s05_sessions"}:  # s06 builds on what was done in s05
        solutions = (ROOT / "curriculum/lessons" / folder / "solutions.py").read_text("utf-8")
        text = solutions.replace("from __future__ import annotations", "", 1)
        handed_in(tmp_path, text.replace("sessions.solutions", "sessions.exercises"), folder)
    report = grade(work_of(tmp_path, Terms(tuple(lessons([lesson, "s05.a"])))))
    outcomes = {r.name: (r.outcome, r.said) for r in report.results if r.name[:3] == lesson}
    assert outcomes == {exercise.short: ("passed", "") for exercise in one.exercises}


def test_a_zip_a_git_folder_and_a_folder_are_the_same(tmp_path: Path) -> None:
    folder = handed_in(tmp_path / "work", GOOD)
    archive = tmp_path / "work.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.write(folder / "s01_agent_loop/exercises.py", "top/s01_agent_loop/exercises.py")
    who = ["-c", "user.name=Learner", "-c", "user.email=learner@example.org"]
    for words in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "done"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    bare = tmp_path / "bare.git"
    subprocess.run(["git", "clone", "-q", "--bare", folder, bare], check=True)
    for path in (folder, archive, bare):
        assert [result.outcome for result in graded(path).results] == ["passed"], path


def test_a_link_out_of_the_submission_is_refused(tmp_path: Path) -> None:
    solutions = ROOT / "curriculum/lessons/s01_agent_loop/solutions.py"
    path = tmp_path / "one" / "s01_agent_loop" / "exercises.py"
    path.parent.mkdir(parents=True)
    path.symlink_to(solutions)
    assert "is a link; hand in the file itself" in refused(tmp_path / "one")
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "s01_agent_loop").symlink_to(solutions.parent)
    assert "holds no exercises" in refused(tmp_path / "two")
    archive = tmp_path / "three.zip"
    with zipfile.ZipFile(archive, "w") as file:
        entry = zipfile.ZipInfo("s01_agent_loop/exercises.py")
        entry.external_attr = 0o120777 << 16
        file.writestr(entry, str(solutions))
    assert "is a link" in refused(archive)


def test_a_pipe_and_a_huge_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "one" / "s01_agent_loop" / "exercises.py"
    path.parent.mkdir(parents=True)
    os.mkfifo(path)
    assert "is no regular file" in refused(tmp_path / "one")
    huge = tmp_path / "two.zip"
    with zipfile.ZipFile(huge, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("s01_agent_loop/exercises.py", b"#" * (1 << 28))
    assert "is larger than" in refused(huge)
    with huge.open("r+b") as file:
        file.truncate(1 << 26)
        file.seek(0, os.SEEK_END)
        file.write(b"PK\5\6" + bytes(18))  # ends as an archive does
    assert "is larger than 33554432 bytes" in refused(huge)


def test_a_digest_reads_no_more_than_a_submission_may_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    real = hashlib.file_digest

    def counted(file: BufferedReader, name: str) -> object:
        read.append(os.fstat(file.fileno()).st_size)
        return real(file, name)

    monkeypatch.setattr(digests.hashlib, "file_digest", counted)
    for number in range(9):
        with (tmp_path / f"{number}").open("wb") as file:
            file.truncate(digests.MOST_HASHED // 4)
    one = digests.digest_of(tmp_path)
    assert sum(read) <= digests.MOST_HASHED
    os.truncate(tmp_path / "8", 5)
    assert digests.digest_of(tmp_path) != one


def test_what_a_broken_archive_raises_is_one_line(tmp_path: Path) -> None:
    path, name = tmp_path / "work.zip", "s01_agent_loop/exercises.py"
    for how in (zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA):
        with zipfile.ZipFile(path, "w", how) as file:
            file.writestr(name, GOOD * 9)
        data = bytearray(path.read_bytes())
        at = 30 + len(name) + 4
        data[at : at + 20] = bytes(255 - byte for byte in data[at : at + 20])
        path.write_bytes(data)
        assert "cannot be read" in refused(path)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(f"\xe9/{name}", GOOD)
    path.write_bytes(path.read_bytes().replace("\xe9".encode(), b"\xff\xff"))
    assert "cannot be read" in refused(path)


def test_the_work_of_others_is_not_taken_through_links(tmp_path: Path) -> None:
    other = handed_in(tmp_path / "other", GOOD)
    who = ["-c", "user.name=Learner", "-c", "user.email=learner@example.org"]
    for words in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "done"]):
        subprocess.run(["git", *words], cwd=other, check=True)
    archive = tmp_path / "work.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.write(other / "s01_agent_loop/exercises.py", "s01_agent_loop/exercises.py")
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=other)
    mine = [tmp_path / name for name in ("linked", "common", "borrowed")]
    for path in mine:
        path.mkdir()
    (mine[0] / ".git").symlink_to(other / ".git")
    for path in mine[1:]:
        (path / ".git" / "objects" / "info").mkdir(parents=True)
        (path / ".git" / "refs").mkdir()
        (path / ".git" / "HEAD").write_bytes(head)
    (mine[1] / ".git" / "commondir").write_text(f"{other / '.git'}\n")
    (mine[2] / ".git" / "objects" / "info" / "alternates").write_text(f"{other / '.git/objects'}\n")
    for path in mine:
        assert "leads to another repository; hand in a whole clone" in refused(path)
    (tmp_path / "link.zip").symlink_to(archive)
    assert "is a link; hand in the file itself" in refused(tmp_path / "link.zip")


def git_folder(folder: Path) -> Path:
    """The git folder of a clone in which the work is committed."""
    who = ["-c", "user.name=Learner", "-c", "user.email=learner@example.org"]
    handed_in(folder, GOOD)
    for words in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "done"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return folder / ".git"


def test_what_a_repository_says_of_itself_is_not_obeyed(tmp_path: Path) -> None:
    git = git_folder(tmp_path)
    with (git / "config").open("a") as file:
        file.write("[include]\n\tpath = /etc/passwd\n[core]\n\trepositoryformatversion = 9\n")
    assert [result.outcome for result in graded(tmp_path).results] == ["passed"]
    (git / "HEAD").write_text("ref: ../../other\n")
    assert "has no commit that HEAD leads to" in refused(tmp_path)


def test_the_commit_is_found_among_packed_references(tmp_path: Path) -> None:
    git = git_folder(tmp_path)
    subprocess.run(["git", f"--git-dir={git}", "pack-refs", "--all"], check=True)
    assert not any(path.is_file() for path in (git / "refs").rglob("*"))
    assert [result.outcome for result in graded(tmp_path).results] == ["passed"]


def test_a_pipe_in_a_repository_is_not_waited_for(tmp_path: Path) -> None:
    git = git_folder(tmp_path)
    (git / "HEAD").unlink()
    os.mkfifo(git / "HEAD")
    assert "HEAD is a pipe; hand in a whole clone" in refused(tmp_path)


def test_a_repository_that_takes_too_long_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git_folder(tmp_path)
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 600\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(repository, "GIT_SECONDS", 0.1)
    assert "git took longer than 0.1 s" in refused(tmp_path)


def test_a_pipe_in_place_of_an_archive_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "work.zip")
    assert "is no folder, ZIP or git repository" in refused(tmp_path / "work.zip")


def test_trees_in_trees_are_not_listed_without_end(tmp_path: Path) -> None:
    def git(*words: str, told: str = "") -> str:
        who = ["-c", "user.name=Learner", "-c", "user.email=learner@example.org"]
        command = ["git", f"--git-dir={tmp_path}", *who, *words]
        return subprocess.run(
            command, input=told, capture_output=True, text=True, check=True
        ).stdout.strip()

    subprocess.run(["git", "init", "-q", "--bare", tmp_path], check=True)
    kind, found = "100644 blob", git("hash-object", "-w", "--stdin")
    for _ in range(9):
        tree = "".join(f"{kind} {found}\tname-{number}\n" for number in range(10))
        kind, found = "040000 tree", git("mktree", told=tree)
    (tmp_path / "HEAD").write_text(git("commit-tree", found, "-m", "bomb") + "\n")
    assert "holds more than 20000 files" in refused(tmp_path)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 broken", b"x" * 100])
def test_what_is_no_submission_is_one_line(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "work.zip"
    path.write_bytes(content)
    assert refused(path).count("\n") == 0
    assert "is no folder, ZIP or git repository" in refused(path)


HIDDEN = """\
import unittest
from curriculum.grading.exercise import load
from hidden_tests.more import wanted


class MoreTest(unittest.TestCase):
    def test_it_is_callable(self) -> None:
        solution = load("s01_agent_loop", "first_request")
        self.assertTrue(callable(solution))
        self.assertEqual(wanted, solution.__doc__)
"""


def test_hidden_tests_are_run_and_marked(tmp_path: Path) -> None:
    folder = tmp_path / "hidden"
    folder.mkdir()
    (folder / "test_more.py").write_text(HIDDEN)
    (folder / "more.py").write_text("wanted = 'secret'\n")
    report = graded(handed_in(tmp_path / "work", GOOD), hidden=read_hidden(folder))
    assert [(r.name, r.outcome, r.hidden) for r in report.results] == [
        ("s01.a", "passed", False),
        ("hidden.test_more", "failed", True),
    ]
    good = GOOD.replace("    return", "    'secret'\n    return")
    report = graded(handed_in(tmp_path / "more", good), hidden=read_hidden(folder))
    assert [result.outcome for result in report.results] == ["passed", "passed"]


def test_hidden_tests_are_files_of_some_size(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "test_more.py")
    with pytest.raises(CommandError, match=r"cannot be read: .*Not a regular file: '.*test_more"):
        read_hidden(tmp_path)
    (tmp_path / "test_more.py").unlink()
    (tmp_path / "test_more.py").symlink_to("/dev/zero")
    with pytest.raises(CommandError, match="Not a regular file"):
        read_hidden(tmp_path)


CASE = "import unittest\nclass MoreTest(unittest.TestCase):\n"
# The source of a hidden test, its outcome, and what is said of it.
JUDGED = {
    "a part fails": (
        f"{CASE}    def test_a(self):\n        with self.subTest(1): self.fail('one')\n",
        "one",
    ),
    "one fails, another is skipped": (
        f"{CASE}    def test_a(self): self.fail('one')\n"
        "    def test_b(self): self.skipTest('two')\n",
        "one",
    ),
    "no test in it": ("secret = 1\n", "no test was run"),
    "a success that was not expected": (
        f"{CASE}    @unittest.expectedFailure\n    def test_a(self): pass\n",
        "was expected to fail",
    ),
    "what prepares it fails": (
        f"{CASE}    @classmethod\n    def setUpClass(cls): raise ValueError('none')\n"
        "    def test_a(self): pass\n",
        "ValueError: none",
    ),
    "it cannot be imported": ("import not_there\n", "ModuleNotFoundError"),
}


@pytest.mark.parametrize("name", JUDGED)
def test_a_hidden_test_passes_only_if_all_of_it_does(name: str, tmp_path: Path) -> None:
    source, said = JUDGED[name]
    report = graded(handed_in(tmp_path, GOOD), hidden={"test_more": source})
    assert [result.outcome for result in report.results] == ["passed", "failed"]
    assert said in report.results[1].said


def test_a_hidden_test_that_imports_what_was_handed_in_is_sealed_before(tmp_path: Path) -> None:
    text = "import unittest\nunittest.TestCase.fail = lambda *given: None\n" + GOOD
    source = (
        "import curriculum.lessons.s01_agent_loop.exercises\n"
        f"{CASE}    def test_a(self): self.fail('no')\n"
    )
    report = graded(handed_in(tmp_path, text), hidden={"test_more": source})
    assert [result.outcome for result in report.results] == ["tampered", "tampered"]


@pytest.mark.parametrize(
    ("name", "source", "said"),
    [("test_a", "def (", "is no Python"), ("test-a", "", "no module can have that name")],
)
def test_hidden_tests_that_could_only_fail_are_refused(
    name: str, source: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / f"{name}.py").write_text(source)
    with pytest.raises(CommandError, match=said):
        read_hidden(tmp_path)


# What each tries, and what must be said instead of a pass.
REACHES = {
    "a file of the grader's machine": "open({secret!r}).read()",
    "its own submission's folder, and those of others": "os.listdir({folder!r})",
    "the home of who grades": "os.listdir({home!r})",
    "the source of the hidden tests": (
        "found = [os.path.join(f, n) for r in ('/grade', '/site/hidden_tests', '/tmp')"
        " for f, _, names in os.walk(r) for n in names if 'hidden' in f or 'test_more' in n]\n"
        "open(found[0] if found else 'no source').read()"
    ),
    "the hidden source by their loader": (
        "import sys, inspect\n"
        "m = sys.modules.get('hidden_tests.test_more')\n"
        "if m is None: raise OSError('not yet')\n"
        "assert not getattr(m.__loader__, '_sources', None)\n"
        "inspect.getsource(m)"
    ),
    "writing into the package": "open('/grade/x', 'w')",
    "writing where others read": "open('/usr/x', 'w')",
    "writing into its root": "open('/x', 'w')",
    "writing to its devices": "open('/dev/x', 'w')",
}


@pytest.mark.parametrize("kind", [BUBBLEWRAP, UNSHARE])
def test_a_submission_reaches_nothing_that_is_not_its_own(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if why_not(kind):
        assert (kind, best_box()) == (BUBBLEWRAP, UNSHARE)
        return
    monkeypatch.setattr(grading, "best_box", lambda: kind)
    secret = tmp_path / "secret"
    secret.write_text("readable for all")
    secret.chmod(0o644)
    names = {"secret": str(secret), "folder": str(tmp_path), "home": os.path.expanduser("~/.ssh")}
    tries = "".join(
        f"    try:\n        {code.format(**names).replace(chr(10), chr(10) + ' ' * 8)}\n"
        f"        reached.append({what!r})\n    except OSError: pass\n"
        for what, code in REACHES.items()
    )
    text = (
        "import os\ndef first_request(runner):\n    reached = []\n"
        f"{tries}    open('/tmp/mine', 'w').write('x')\n"
        "    if reached: raise LookupError(reached)\n"
        "    return runner.model.requests[0]\n"
    )
    hidden = "from curriculum.tests.test_s01 import ExerciseTest as MoreTest\n"
    work = handed_in(tmp_path / "work", text)
    report = graded(work, hidden={"test_more": hidden, "test_other": "secret = 1\n"})
    first, more, _ = report.results
    assert (first.outcome, first.said) == ("passed", "")
    assert "LookupError" not in more.said
    assert report.box == kind


def test_a_bubblewrap_that_does_not_work_is_told_and_replaced(tmp_path: Path) -> None:
    fake = tmp_path / "bin" / "bwrap"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    work = handed_in(tmp_path / "work", GOOD)
    done = subprocess.run(
        [sys.executable, "-m", "curriculum", "grade", "s01.a", "--submission", str(work)],
        cwd=ROOT,
        env={**os.environ, "PATH": f"{fake.parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2:] == [
        "box: unshare (bubblewrap: it does not work here:"
        " bwrap: No permissions to create new namespace)",
        "1 of 1 passed",
    ]


@pytest.mark.parametrize("kind", [BUBBLEWRAP, UNSHARE])
def test_a_box_ends_with_whoever_started_it_also_if_that_was_killed(
    kind: str, tmp_path: Path
) -> None:
    if why_not(kind):
        assert (kind, best_box()) == (BUBBLEWRAP, UNSHARE)
        return
    work = handed_in(tmp_path, body("import time\nprint('x')\nwhile True: time.sleep(60)"))
    code = (
        "import sys; from pathlib import Path\n"
        "from tests.grading_tool import test_submissions as t\n"
        "t.grading.best_box = lambda: sys.argv[1]\n"
        "t.isolation.OUTER_IDS = range(int(sys.argv[3]), int(sys.argv[4]))\n"
        "t.graded(Path(sys.argv[2]), 600)\n"
    )
    ids = isolation.OUTER_IDS
    given = [kind, str(work), str(ids.start), str(ids.stop)]
    grader = subprocess.Popen([sys.executable, "-c", code, *given], cwd=ROOT)
    try:
        wait_until(left_over)
    finally:
        grader.kill()
        grader.wait()
    wait_until(lambda: not left_over())


def test_nothing_outside_can_be_reached_not_even_on_this_machine(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 2)\nreturn ()"
        [result] = graded(handed_in(tmp_path, body(code))).results
    assert "ConnectionRefusedError" in result.said


def test_the_instructor_is_told_what_no_solution_needs(tmp_path: Path) -> None:
    report = graded(handed_in(tmp_path, "import gc\n" + GOOD))
    assert report.notes == ("s01_agent_loop, line 2: gc",)
    hidden = "import sys\nframe = getattr(sys, '_getframe')\n" + GOOD + "gc\n" * 99
    notes = graded(handed_in(tmp_path / "more", hidden)).notes
    assert notes == (
        "s01_agent_loop, line 3: getattr",
        "s01_agent_loop, line 3: _getframe",
        "s01_agent_loop, line 6: gc (and 98 more)",
    )
