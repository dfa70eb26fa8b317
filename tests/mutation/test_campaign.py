"""The campaign itself, in little: it kills what must die, and says of the rest what it is."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.mutation.mutants import Mutant, mutants_of, sample_of
from tests.mutation.report import Findings, wilson
from tests.mutation.survivors import in_scope, read_list, write_draft
from tests.mutation.workshop import ROOT, prefix

HERE = Path(__file__).resolve().parent
IMPORTANT = HERE / "important.toml"
QUICK = [
    *(
        f"tests/core/test_{name}.py"
        for name in ("limits", "pairing", "calls", "requests", "journal")
    ),
    "tests/core/test_budget.py::test_calls_are_counted_by_what_starts",
]
CODE = '''"""Code with two changes that no test can tell."""

from __future__ import annotations

import os


def larger(one: int, other: int) -> int:
    """The larger one; of two equal ones either will do."""
    return one if one > other else other


def smaller(one: int, other: int) -> int:
    """The smaller one, likewise."""
    return one if one < other else other


def fits(size: int, limit: int) -> bool:
    return size <= limit


def end(pid: int) -> bool:
    """Whether a process was ended; one's own parent never is."""
    return pid != os.getppid() and os.kill(pid, 9) is None


def greet() -> None:
    print("hello")


if __name__ == "__main__":
    greet()
'''
TESTS = """
import os
import subprocess
import sys

from curriculum.core.planted import end, fits, larger, smaller


def test_the_larger_and_the_smaller_are_given():
    assert larger(1, 2) == larger(2, 1) == larger(2, 2) == 2
    assert smaller(1, 2) == smaller(2, 1) == smaller(1, 1) == 1


def test_the_limit_itself_fits():
    assert fits(2, 2)
    assert not fits(3, 2)


def test_all_but_the_parent_are_ended():
    assert not end(os.getppid())
    child = subprocess.Popen(["sleep", "60"])
    try:
        assert end(child.pid)
        assert child.wait() == -9
    finally:
        child.kill()
        child.wait()


def test_the_greeting_of_a_process_of_its_own():
    command = [sys.executable, "-m", "curriculum.core.planted"]
    assert subprocess.run(command, capture_output=True).stdout == b"hello\\n"
"""
PLAN = """
[core]
tests = ["tests/core"]
slow = ["tests/core/test_planted.py::test_the_greeting_of_a_process_of_its_own"]
wider = []
"""
PLANTED = """
[[mutant]]
function = "curriculum.core.planted.larger"
change = '''
- return one if one > other else other
+ return one if one >= other else other
'''
why = "equal numbers: either is the larger one"
"""
GONE = """
[[mutant]]
function = "curriculum.core.planted.larger"
change = '''
- return max(one, other)
+ return max(None, other)
'''
why = "of a version before"
"""


def campaign(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.mutation", "core", "--jobs", "2", *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A small checkout, with code of our own planted in it."""
    root = tmp_path / "a check out"
    files = {
        "pyproject.toml": "[project]\nname = 'planted'\n",
        "curriculum/__init__.py": "",
        "curriculum/core/__init__.py": "",
        "curriculum/core/planted.py": CODE,
        "tests/__init__.py": "",
        "tests/core/__init__.py": "",
        "tests/core/test_planted.py": TESTS,
        "tests/mutation/plan.toml": PLAN,
        "tests/mutation/survivors.toml": "",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def mutant(number: int) -> Mutant:
    path = Path("curriculum/core/some.py")
    head = "def f() -> int:\n    return"
    before, after = f"{head} {number}", f"{head} {number + 1}"
    name, function = f"curriculum.core.some.x_f__mutmut_{number}", "curriculum.core.some.f"
    return Mutant(name, function, path, before, after)


def findings(verdicts: Sequence[str], listed: Sequence[Mutant] = (), total: int = 0) -> Findings:
    tried = [mutant(number) for number in range(len(verdicts))]
    by_name = {m.name: verdict for m, verdict in zip(tried, verdicts, strict=True)}
    return Findings(tried, by_name, {m.identity: "why" for m in listed}, total or len(tried))


def test_the_mistakes_that_must_never_pass_are_all_killed() -> None:
    done = campaign("--only", IMPORTANT, "--tests", *QUICK)
    assert "10 of 10 mutants killed: 100.0%" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 0


@pytest.mark.skipif(not prefix(), reason="a mutant of this would end the campaign itself")
def test_survivors_are_shown_or_known_and_a_list_may_not_go_stale(
    checkout: Path, tmp_path: Path
) -> None:
    (checkout / "tests/mutation/survivors.toml").write_text(PLANTED + GONE)
    done = campaign("--root", checkout, "--draft", tmp_path / "draft.toml")
    assert done.returncode == 1, done.stderr
    assert done.stdout.count("survived:") == 1
    assert "+    return one if one <= other else other" in done.stdout
    # The greeting is only seen by the process that prints it: the second trial.
    # The mutants of `end` that end mutmut are tried there too.
    assert "16 of 18 mutants killed: 88.9%; survivors: 1 listed, 1 not" in done.stdout
    assert (
        "listed, and no longer there: curriculum.core.planted.larger\n- return max" in done.stdout
    )
    ((function, change),) = read_list(tmp_path / "draft.toml")
    assert function == "curriculum.core.planted.smaller"
    assert change.splitlines() == [
        "- return one if one < other else other",
        "+ return one if one <= other else other",
    ]


def test_a_hang_is_a_kill_and_a_mutant_without_tests_is_none() -> None:
    found = findings(["killed", "timeout", "survived", "no tests"])
    assert found.share == 0.5
    assert [m.name[-1] for m in found.unlisted] == ["2", "3"]


def test_a_survivor_with_a_reason_has_survived_all_the_same() -> None:
    found = findings(["killed", "survived"], listed=[mutant(1)])
    assert found.share == 0.5
    assert found.unlisted == []


def test_who_is_listed_and_killed_by_now_is_named() -> None:
    found = findings(["killed", "survived"], listed=[mutant(0), mutant(1)])
    assert "still listed: curriculum.core.some.f\n- return 0\n+ return 1" in "\n".join(
        found.lines()
    )


def test_only_a_sample_has_an_interval() -> None:
    assert "interval" not in "\n".join(findings(["killed"] * 10).lines())
    assert "interval 72.2% to 100.0%" in "\n".join(findings(["killed"] * 10, total=99).lines())


def test_the_interval_is_wilsons() -> None:
    low, high = wilson(90, 100)
    assert (round(low, 4), round(high, 4)) == (0.8256, 0.9448)


def test_the_same_seed_draws_the_same_mutants() -> None:
    everyone = [mutant(number) for number in range(100)]
    assert sample_of(everyone, 10, seed=1) == sample_of(everyone, 10, seed=1)
    assert sample_of(everyone, 10, seed=1) != sample_of(everyone, 10, seed=2)
    assert len({m.name for m in sample_of(everyone, 1000, seed=1)}) == 100


def test_a_mutant_is_known_by_its_function_and_lines_wherever_they_stand(tmp_path: Path) -> None:
    one = mutant(1)
    moved = replace(one, name="f__mutmut_7", before=f"\n\n{one.before}", after=f"\n\n{one.after}")
    assert moved.identity == one.identity
    quoted = replace(one, after=one.before.replace("1", "'''1\\n\"'''"))
    write_draft(tmp_path / "list", [one, moved, mutant(2), quoted])
    identities = [one.identity, mutant(2).identity, quoted.identity]
    assert list(read_list(tmp_path / "list")) == identities
    assert in_scope([one.identity], [Path("curriculum/core/some.py")]) == [one.identity]
    assert in_scope([one.identity], [Path("curriculum/core/so.py")]) == []


def test_each_mutant_changes_its_own_file_as_its_diff_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    twins = "class A:\n    def f(self) -> int:\n        return 1\n\n\n"
    source = twins + "# kept\n" + twins.replace("A", "B") + "def f() -> int:\n    return 1\n"
    (tmp_path / "curriculum").mkdir()
    path = Path("curriculum/twins.py")
    path.write_text(source)
    (tmp_path / "pyproject.toml").write_text("[tool.mutmut]\nsource_paths = ['curriculum']\n")
    changed = {m.function: m.applied_to(source) for m in mutants_of(path)}
    at = {name: text.splitlines().index for name, text in changed.items()}
    assert {
        name: find("        return 2") for name, find in at.items() if "wins.f" not in name
    } == {
        "curriculum.twins.A.f": 2,
        "curriculum.twins.B.f": 8,
    }
    assert changed["curriculum.twins.f"] == source[:-2] + "2\n"


@pytest.mark.parametrize("text", ["[[mutant]]\nfunction = 'f'\n", "[mutant", PLANTED * 2])
def test_a_list_out_of_order_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "list").write_text(text)
    with pytest.raises(ValueError, match="list") as error:
        read_list(tmp_path / "list")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--only", "no such file"], "no such file"),
        (["--files", "nothing*.py"], "no mutants in nothing*.py"),
    ],
)
def test_what_cannot_be_tried_is_told_in_one_line(
    checkout: Path, arguments: list[str], said: str
) -> None:
    done = campaign("--root", checkout, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_lists_of_the_checkout_are_in_order() -> None:
    assert len(read_list(IMPORTANT)) == 10
    assert all(read_list(HERE / "survivors.toml").values()), "a survivor without a reason"
