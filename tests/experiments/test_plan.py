"""An experiment is checked before anything runs, and always means the same runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from curriculum.experiments.plan import load_experiment, ready_names
from curriculum.experiments.settings import ExperimentError
from tests.experiments.parts import SMALL, command, experiment


def test_every_combination_is_a_cell_with_all_its_repetitions() -> None:
    tasks = experiment().tasks()
    assert len(tasks) == len({task.run_id for task in tasks}) == 2 * 2 * 3
    assert {task.cell for task in tasks} == {(0, 1), (0, 3), (50, 1), (50, 3)}


def test_a_repetition_has_the_same_seed_in_every_cell_and_another_than_the_next() -> None:
    tasks = experiment().tasks()
    seeds = {n: {task.seed for task in tasks if task.repetition == n} for n in (1, 2, 3)}
    assert [len(found) for found in seeds.values()] == [1, 1, 1]
    assert len(set.union(*seeds.values())) == 3


def test_a_skipped_combination_has_no_runs() -> None:
    skip = "[[skip]]\nfault.drop_percent = 0\nretry.attempts = 3\n"
    cells = experiment(SMALL + skip).cells()
    assert cells == [(0, 1), (50, 1), (50, 3)]


@pytest.mark.parametrize("name", ready_names())
def test_every_ready_experiment_can_be_read_and_asks_something(name: str) -> None:
    found = load_experiment(name)
    assert found.name == name
    assert found.question.endswith("?")
    assert found.about


def test_there_are_at_least_five_ready_experiments() -> None:
    assert len(ready_names()) >= 5


LONG = "it may be at most 31536000: lower steps, turns or a time"


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("steps = 2", "stepz = 2", "there is no setting 'model.stepz'; there are model.kind"),
        ("steps = 2", "steps = true", "model.steps must be a whole number"),
        ("steps = 2", "steps = -1", "model.steps must be from 0"),
        ("steps = 2", 'kind = "real"', "must be one of scripted, recorded, live"),
        ("attempts = [1, 3]", "attempts = 3", "must be a list of values"),
        ("attempts = [1, 3]", "attempts = [3, 3]", "names a value twice"),
        ('"completed", ', '"speed", ', "there is no metric 'speed'"),
        ('x = "fault.drop_percent"', 'x = "model.steps"', "x must be in the matrix"),
        ("repetitions = 3", "repetitions = 0", "repetitions must be a whole number from 1"),
        ("repetitions = 3", "repeat = 3", "unknown 'repeat'"),
        ('name = "small"', 'name = "../small"', "name must be made of"),
        ("[matrix.retry]", "[matrix.retry", "no TOML"),
        ("steps = 2", f"steps = {'9' * 5000}", "no TOML"),
        ("steps = 2", 'cassette = "\\u0000"', "must be text on one line, nothing unseen in it"),
        ("steps = 2", 'name = "a\\u001b[31m"', "must be text on one line, nothing unseen"),
        ("[matrix.retry]", '[matrix.model]\nname = ["a\\nb"]\n[matrix.retry]', "text on one line"),
        ('"Is it small?"', '"Is it\\u0007 small?"', "question must be text on one line"),
        ('name = "small"', 'name = "small"\nabout = "a\\u001b"', "about has a control character"),
        ("steps = 2", "steps = 10000\nanswer_ms = 1000000000", LONG),
        ("steps = 2", "steps = 1\ncalls = 256\n[settings.tool]\nwrite_ms = 1000000000", LONG),
        ("steps = 2", "steps = 10000\n[settings.clock]\nevent_us = 1000000000", LONG),
        ("steps = 2", "answer_ms = 1000000000\n[matrix.model]\nturns = [1, 1000]", LONG),
        ('x = "fault.drop_percent"', "x = {}", "x must be in the matrix"),
        ('"completed", ', '"requests", "requests", ', "metrics names requests twice"),
        ("[matrix.retry]", "[[skip]]\nretry.attempts = 2\n[matrix.retry]", "is never 2"),
        ("[settings.model]", "[settings]", "settings must be tables"),
        ("steps = 2", "steps = 2\n[settings.retry]\nattempts = 2", "both fixed and in the matrix"),
    ],
)
def test_what_is_wrong_is_told_with_the_file_and_what_to_do(
    before: str, after: str, told: str
) -> None:
    assert before in SMALL
    with pytest.raises(ExperimentError) as caught:
        experiment(SMALL.replace(before, after))
    assert str(caught.value).startswith("small.toml: ")
    assert told in str(caught.value)


def test_an_experiment_of_too_many_runs_is_refused() -> None:
    many = ", ".join(str(n) for n in range(1, 100))
    with pytest.raises(ExperimentError, match="there may be 1 to 100000"):
        experiment(SMALL.replace("[1, 3]", f"[{many}]").replace("= 3", "= 10000"))
    axes = "".join(f"{name} = [{many}]\n" for name in ("turns", "calls", "pieces", "answer_ms"))
    with pytest.raises(ExperimentError, match=r"the matrix has .* cells"):  # and not gone through
        experiment(SMALL.replace("[matrix.retry]", f"[matrix.model]\n{axes}[matrix.retry]"))


def test_metrics_that_are_no_list_are_told() -> None:
    text = 'name = "a"\nquestion = "b?"\n[report]\nmetrics = "completed"\n'
    with pytest.raises(ExperimentError, match="metrics must be a list of them"):
        experiment(text)


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["run", "nothing.toml"], 66, "No such file or directory; give a TOML file or one of:"),
        (["run", "."], 66, "Is a directory"),
        (["run", "/dev/zero"], 66, "/dev/zero: Not a regular file; give a TOML file or one of:"),
        (["run"], 64, "FILE"),
        (["run", "budgets", "--jobs", "0"], 64, "not a number from 1 to 256"),
        (["report", "budgets"], 66, "no results yet; run it first"),
        (["run", "budgets", "--out", "/proc/nothing"], 73, "give another --out"),
    ],
)
def test_bad_use_is_one_line_and_an_exit_code(
    arguments: list[str], code: int, told: str, tmp_path: Path
) -> None:
    ended = command(*arguments, cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (code, "")
    assert told in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_list_shows_every_ready_experiment_with_its_question() -> None:
    ended = command("list")
    assert ended.returncode == 0
    for name in ready_names():
        assert any(
            line.startswith(name) and line.endswith(load_experiment(name).question)
            for line in ended.stdout.splitlines()
        )
