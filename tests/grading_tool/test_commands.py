"""`python -m curriculum` as a learner uses it: on a bare Python, with short names."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.grading_tool.desk import DONE_A, DONE_B, FIRST, Desk


def test_without_a_command_it_shows_the_board(desk: Desk) -> None:
    board = desk.ok()
    assert board == desk.ok("lessons")
    assert re.search(r"^s01  The agent loop|^s01  agent loop", board, re.MULTILINE)
    assert "0 of 12 exercises passed\nnext: python3 -m curriculum start s01\n" in board


def test_the_board_tells_read_started_passed_and_broken(desk: Desk) -> None:
    desk.ok("start", "s01")
    desk.solve("first_request", DONE_A)
    desk.solve("run_out_of_turns", "return None")
    [line] = [line for line in desk.ok().splitlines() if line.startswith("s01")]
    assert line.split()[-9:] == ["yes", "a", "started", "b", "started", "c", "-", "d", "-"]
    assert desk.run("grade", "s01").returncode == 1
    [line] = [line for line in desk.ok().splitlines() if line.startswith("s01")]
    assert line.split()[-8:] == ["a", "passed", "b", "started", "c", "-", "d", "-"]
    text = (desk.root / FIRST).read_text("utf-8")
    (desk.root / FIRST).write_text(text.replace(DONE_A, "return ()"), "utf-8")
    desk.run("grade", "s01.a")
    [line] = [line for line in desk.ok().splitlines() if line.startswith("s01")]
    assert line.split()[-8:] == ["a", "broken", "b", "started", "c", "-", "d", "-"]


@pytest.mark.parametrize("name", ["s01", "S01", "1", "01", "s1", "s01_agent_loop"])
def test_short_names_of_lessons(desk: Desk, name: str) -> None:
    assert desk.ok("start", name).startswith("s01 · ")


def test_start_names_the_python_that_has_the_packages_where_they_are_needed(
    desk: Desk, tmp_path: Path
) -> None:
    first = desk.ok("start", "s01")
    assert "\nrun      python3 -m curriculum demo s01\n" in first
    assert "\ngrade    python3 -m curriculum grade s01\n" in first
    assert "at every save: .venv/bin/python -m curriculum watch s01\n" in first
    other = Desk(tmp_path / "other", ["s07_provider", "s12_mino"])
    for name in ("s07", "s12"):
        assert f"\nrun      .venv/bin/python -m curriculum demo {name}\n" in other.ok("start", name)


def test_the_grade_of_a_reference_is_not_the_learners(desk: Desk) -> None:
    before = desk.ok()
    done = desk.run("grade", "s01.b", solutions=True)
    assert "1 passed" in done.stdout, done.stderr
    assert desk.ok() == before


@pytest.mark.parametrize("name", ["s01.b", "1.b", "s01.B", "s01.run_out_of_turns"])
def test_short_names_of_exercises(desk: Desk, name: str) -> None:
    assert desk.ok("hint", name).startswith("s01.b run_out_of_turns, hint 1 of 3\n")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["grade", "s99"], 2, "no lesson 's99'; there are s01, s02, s03"),
        (["grade", "s01.q"], 2, "no exercise 's01.q'; there are s01.a (first_request)"),
        (["hint", "s01"], 2, "which exercise of s01? Say for example s01.a"),
        (["grade", "s01", "--timeout", "0"], 2, "'0' is no number of seconds above 0"),
        (["sing"], 2, "invalid choice: 'sing'"),
        (["solution", "s01.a"], 2, "try s01.a first: edit curriculum/lessons"),
        (["reset", "s01"], 0, ""),
    ],
)
def test_a_wrong_word_is_one_line(desk: Desk, words: list[str], code: int, said: str) -> None:
    done = desk.run(*words)
    assert done.returncode == code
    assert said in done.stderr
    assert done.stderr.count("\n") == (1 if said else 0)


def test_demo_runs_the_demo(desk: Desk) -> None:
    printed = desk.ok("demo", "1").splitlines()
    assert json.loads(printed[-1])["type"] == "session.stop"


def test_a_fault_of_the_grader_is_not_the_learners(desk: Desk) -> None:
    desk.solve("first_request", DONE_A)
    grader = desk.root / "curriculum" / "grading" / "s01.py"
    head = "    rng = random.Random(1)\n    earlier"
    text = grader.read_text("utf-8")
    assert text.count(head) == 1
    grader.write_text(text.replace(head, f"    raise ValueError('no scenario')\n{head}"), "utf-8")
    done = desk.run("grade", "s01.a")
    assert done.returncode == 1
    assert re.fullmatch(
        r"s01.a  \?       first_request\n"
        r"    not graded: the grader itself has failed, on what it was given: ValueError:"
        r" no scenario \(s01.py, line \d+\)\n"
        r"\n0 passed, 0 not yet, 0 not started, 1 not graded\n",
        done.stdout,
    )
    assert "a started" in desk.ok()


def test_a_fault_in_the_standard_library_is_told_with_the_learners_line(desk: Desk) -> None:
    desk.solve("first_request", "import json\n    return json.loads('{')")
    assert re.search(r"JSONDecodeError.* \(exercises.py, line \d+\)", desk.run("grade").stdout)


def test_all_passed_says_what_is_next(desk: Desk) -> None:
    desk.solve("first_request", DONE_A)
    assert desk.ok("grade").endswith(f"next: s01.b, run_out_of_turns in {FIRST}\n")
    desk.solve("run_out_of_turns", DONE_B)
    assert desk.ok("grade", "s01.b").endswith(f"next: s01.c, CANCELLATION in {FIRST}\n")
    progress = desk.root / ".curriculum" / "progress.json"
    kept = json.loads(progress.read_text("utf-8"))
    exercises = kept["lessons"]["s01_agent_loop"]["exercises"]
    for letter in "cd":
        exercises[letter] = dict(exercises["a"])
    progress.write_text(json.dumps(kept), "utf-8")
    assert desk.ok("grade", "s01.b").endswith("\nnext: python3 -m curriculum start s02\n")


def test_a_syntax_error_starts_only_the_exercise_that_holds_it(desk: Desk) -> None:
    desk.solve("first_request", "return (")
    [line] = [line for line in desk.ok().splitlines() if line.startswith("s01")]
    assert line.split()[-8:] == ["a", "started", "b", "-", "c", "-", "d", "-"]
    done = desk.run("grade")
    assert "0 passed, 1 not yet, 0 not started\n" in done.stdout
    (desk.root / FIRST).write_text("first_request = (\n", "utf-8")
    assert "a started  b started" in desk.ok()


def test_nothing_started_is_no_failure(desk: Desk) -> None:
    assert desk.ok("grade") == (
        "no exercise is started; begin with: python3 -m curriculum start s01\n"
    )
    assert "0 passed, 0 not yet, 4 not started" in desk.ok("grade", "s01")


def test_passing_is_kept_and_a_failure_is_explained(desk: Desk) -> None:
    desk.solve("first_request", DONE_A)
    desk.solve("run_out_of_turns", "return None")
    done = desk.run("grade")
    assert done.returncode == 1
    assert done.stderr == ""
    assert "Traceback" not in done.stdout
    assert re.search(r"^s01.a  passed  first_request", done.stdout, re.MULTILINE)
    assert re.search(
        r"^s01.b  not yet run_out_of_turns .*\n    expected: the RunResult .*\n"
        r"    but:      None\n    look at:  lesson s01, .*",
        done.stdout,
        re.MULTILINE,
    )
    assert "1 passed, 1 not yet, 0 not started\nnext: edit " in done.stdout


def test_an_endless_loop_is_bounded_named_and_costs_only_itself(desk: Desk) -> None:
    desk.solve("first_request", "while True:\n        pass")
    desk.solve("run_out_of_turns", DONE_B)
    done = desk.run("grade", "--timeout", "5")
    assert re.search(
        r"expected: first_request to come to an end within 5 s\n"
        r"    but:      it was still running \(exercises.py, line \d+, in first_request\)",
        done.stdout,
    )
    assert re.search(r"^s01.b  passed", done.stdout, re.MULTILINE)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("import os; os._exit(0)", "the process ended with exit code 0: does the code call os"),
        ("import os; os.kill(os.getpid(), 11)", "the process was ended by SIGSEGV"),
        ("import sys; sys.exit(0)", "SystemExit"),
        ("raise KeyError('x')", "it raised KeyError: 'x' (exercises.py, line"),
    ],
)
def test_code_that_ends_the_process_fails_and_costs_only_itself(
    desk: Desk, body: str, said: str
) -> None:
    desk.solve("first_request", body)
    desk.solve("run_out_of_turns", DONE_B)
    done = desk.run("grade")
    assert done.returncode == 1
    assert said in done.stdout
    assert re.search(r"^s01.b  passed", done.stdout, re.MULTILINE)


def test_an_exercise_that_needs_what_is_not_installed_says_what_to_install(tmp_path: Path) -> None:
    desk = Desk(tmp_path, ["s07_provider"])
    file = desk.root / "curriculum/lessons/s07_provider/exercises.py"
    text = file.read_text("utf-8")
    table = "STREAM_ENDINGS: Mapping[str, Mapping[str, object]] | None = "
    file.write_text(text.replace(f"{table}None", f"{table}{{}}"), "utf-8")
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", bare], check=True)
    done = subprocess.run(
        [bare / "bin" / "python", "-m", "curriculum", "grade", "s07"],
        cwd=desk.root,
        env=desk.env,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1
    assert "s07.c  ?       STREAM_ENDINGS\n    not graded: " in done.stdout
    assert (
        "httpx is missing; run `make locked`, then the same command with .venv/bin/python"
        in done.stdout
    )
    assert "0 passed, 0 not yet, 3 not started, 1 not graded\n" in done.stdout
    assert "c started" in desk.ok()


WRITES = (
    "import os\n    for fd in range(3, 20):\n        try: os.write(fd, {!r})\n"
    "        except OSError: pass"
)


@pytest.mark.parametrize(
    ("body", "seconds", "said"),
    [
        (WRITES.format(b'xx\n[]\n{"outcome":"great","said":1}\n'), 60, "not yet"),
        ("import os, time\n    os.closerange(3, 99)\n    time.sleep(99)", 1, "still running"),
        ("import os\n    os.kill(os.getpid(), 40)", 60, "ended by signal 40"),
    ],
)
def test_code_that_spoils_what_it_inherits_is_no_fault_of_ours(
    desk: Desk, body: str, seconds: int, said: str
) -> None:
    desk.solve("first_request", body)
    done = desk.run("grade", "s01.a", "--timeout", str(seconds))
    assert (done.returncode, done.stderr) == (1, "")
    assert said in done.stdout


def test_what_the_code_prints_is_shown_with_nothing_hidden(desk: Desk) -> None:
    desk.solve("first_request", "print('look: \\x1b[2J')\n    return ()")
    printed = desk.run("grade", "s01.a").stdout
    assert "    your code has printed:\n    | look: \\x1b[2J\n" in printed
    assert "\x1b" not in printed


def test_a_file_that_is_no_python_fails_with_its_line(desk: Desk) -> None:
    (desk.root / FIRST).write_text("import os\n\ndef first_request(runner:\n    pass\n")
    done = desk.run("grade", "s01.a")
    assert f"    {FIRST}, line 3: SyntaxError: '(' was never closed" in done.stdout


def test_hints_come_one_after_the_other_and_the_last_again(desk: Desk) -> None:
    heads = [desk.ok("hint", "s01.a").splitlines()[0] for _ in range(4)]
    assert [head.rpartition(" hint ")[2] for head in heads] == [
        "1 of 3",
        "2 of 3",
        "3 of 3",
        "3 of 3",
    ]
    assert "hint 1 of 3" in desk.ok("hint", "s01.a", "--level", "1")


def test_hints_speak_the_learners_language(desk: Desk) -> None:
    assert "模型替身" in desk.ok("hint", "s01.a", "--lang", "zh", "--level", "1")
    for name, lang, is_chinese in (
        ("LANG", "zh_CN.UTF-8", True),
        ("LC_ALL", "zh_TW.UTF-8", True),
        ("LANG", "en_GB.UTF-8", False),
        ("LANG", "C", False),
    ):
        done = subprocess.run(
            [sys.executable, "-S", "-m", "curriculum", "hint", "s01.a", "--level", "1"],
            cwd=desk.root,
            env={**desk.env, "PYTHONUTF8": "1", "LANG": "", name: lang},
            capture_output=True,
            encoding="utf-8",
            timeout=120,
        )
        assert ("模型替身" in done.stdout) == is_chinese, (name, lang)


def test_a_solution_is_shown_after_an_attempt_or_when_spoiled(desk: Desk) -> None:
    spoiled = desk.ok("solution", "s03.b", "--spoil")
    assert "class WordCount:" in spoiled
    assert "def one_string(" in spoiled  # what it uses comes with it
    assert "class ReadFile" not in spoiled
    compile(spoiled, "solution", "exec")
    desk.ok("grade", "s01.a")
    assert desk.run("solution", "s01.a").returncode == 2  # a stub is no attempt
    desk.solve("first_request", "return ()")
    desk.run("grade", "s01.a")
    assert "def first_request(" in desk.ok("solution", "s01.a")


def test_reset_puts_one_stub_back_and_keeps_what_was_written(desk: Desk) -> None:
    desk.commit()
    desk.solve("first_request", DONE_A)
    desk.solve("run_out_of_turns", DONE_B)
    mine = (desk.root / FIRST).read_text("utf-8")
    desk.ok("grade")
    said = desk.ok("reset", "s01.a")
    kept = re.search(r"kept in (\.curriculum/kept/\S+\.py)", said)
    assert kept
    assert (desk.root / kept[1]).read_text("utf-8") == mine
    text = (desk.root / FIRST).read_text("utf-8")
    assert DONE_A not in text
    assert DONE_B in text
    assert "1 of 12 exercises passed" in desk.ok()


def test_reset_puts_a_whole_lesson_back_also_one_that_was_committed(desk: Desk) -> None:
    desk.commit()
    stub = (desk.root / FIRST).read_text("utf-8")
    (desk.root / FIRST).write_text("nonsense ( \n")
    desk.commit()
    desk.ok("reset", "s01")
    assert (desk.root / FIRST).read_text("utf-8") == stub


def test_reset_without_git_says_so_and_changes_nothing(desk: Desk) -> None:
    (desk.root / FIRST).write_text("x = 1\n")
    done = desk.run("reset", "s01")
    assert done.returncode == 3
    assert "git has no version here of" in done.stderr
    assert (desk.root / FIRST).read_text("utf-8") == "x = 1\n"


def test_reset_keeps_every_byte_and_the_line_ends_of_the_rest(desk: Desk) -> None:
    desk.commit()
    path = desk.root / FIRST
    handed_out = path.read_bytes().replace(b"\n", b"\r\n")
    desk.solve("first_request", DONE_A)
    mine = b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n") + b"# \xff \r and \n"
    path.write_bytes(mine)
    desk.ok("reset", "s01.a")
    [kept] = (desk.root / ".curriculum" / "kept").iterdir()
    assert kept.read_bytes() == mine
    assert path.read_bytes().startswith(b"\xef\xbb\xbf" + handed_out)


def test_reset_that_cannot_keep_what_was_written_touches_nothing(desk: Desk) -> None:
    desk.commit()
    desk.solve("first_request", DONE_A)
    mine = (desk.root / FIRST).read_bytes()
    (desk.root / ".curriculum").mkdir()
    (desk.root / ".curriculum" / "kept").write_text("in the way")
    done = desk.run("reset", "s01")
    assert done.returncode == 3
    assert "cannot be written" in done.stderr
    assert done.stderr.count("\n") == 1
    assert (desk.root / FIRST).read_bytes() == mine


def test_a_suite_that_is_no_python_any_more_is_one_line(desk: Desk) -> None:
    (desk.root / "curriculum" / "tests" / "test_s01.py").write_text("def (")
    done = desk.run("lessons")
    assert done.returncode == 3
    assert "git checkout -- curriculum/tests/test_s01.py" in done.stderr
    assert done.stderr.count("\n") == 1
