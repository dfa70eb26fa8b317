"""The checker itself, on bad samples: each kind of drift is found, and named where it stands."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.golden import ROOT
from tests.prose import checks
from tests.prose.page import Fence, Page
from tests.prose.reading import minutes
from tests.prose.shell import Shell, commands_of, handed_out, matches

SOURCE = """\
import os


class Box:
    # region: all
    def first(self):
        return 1

    # region: inner
    def second(self):
        return 2

    # endregion

    def third(self):
        return 3

    # endregion
"""
QUOTED = """\
<!-- quote: box.py#inner -->
[`box.py`](box.py)
```python
def second(self):
    return 2
```
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "box.py").write_text(SOURCE)
    (tmp_path / "Makefile").write_text("demo: venv\n\ttrue\n")
    return tmp_path


def page(root: Path, text: str, name: str = "page.md") -> Page:
    (root / name).write_text(text)
    return Page.read(root / name)


def says(*outputs: str, code: int = 0) -> list[tuple[str, int]]:
    """What came of the commands of a page, one output a command."""
    return [(output, code) for output in outputs]


# Commands


CONSOLE = """\
```console
$ first
one
two
$ second
three
```
"""


def test_right_output_passes(root: Path) -> None:
    assert list(checks.wrong_outputs(page(root, CONSOLE), says("one\ntwo\n", "three\n"))) == []


def test_wrong_output_names_its_command(root: Path) -> None:
    [problem] = checks.wrong_outputs(page(root, CONSOLE), says("one\ntwo\n", "four\n"))
    assert problem.startswith("page.md:5: $ second\n")
    assert "four" in problem


def test_output_that_goes_on_is_wrong(root: Path) -> None:
    [problem] = checks.wrong_outputs(page(root, CONSOLE), says("one\ntwo\nmore\n", "three\n"))
    assert "$ first" in problem


def test_output_of_a_command_that_shows_none_is_wrong(root: Path) -> None:
    quiet = page(root, "```console\n$ first\n```\n")
    assert list(checks.wrong_outputs(quiet, says(""))) == []
    assert len(list(checks.wrong_outputs(quiet, says("something\n")))) == 1


def test_a_command_that_fails_is_wrong_whatever_it_prints(root: Path) -> None:
    found = list(checks.wrong_outputs(page(root, CONSOLE), says("one\ntwo\n", "three\n", code=1)))
    assert len(found) == 2
    assert "exit code 1" in found[0]


@pytest.mark.parametrize(
    ("shown", "real", "same"),
    [
        (("a", "...", "d"), "a\nb\nc\nd\n", True),
        (("a", "...", "d"), "a\nd\n", False),
        (("a", "..."), "a\nb\n", True),
        (("a", "..."), "a\n", False),
        (("...",), "", False),
        (("took … s",), "took 0.25 s\n", True),
        (("took … s",), "took 0.25\n s\n", False),
        (("took … s",), "took  s\n", False),
        (("a.c",), "abc\n", False),
        (("a",), "a", True),
        ((), "", True),
    ],
)
def test_what_is_left_out_is_marked(shown: tuple[str, ...], real: str, same: bool) -> None:
    assert matches(shown, real) is same


SCRIPT = """\
```sh
cat <<END
text

> quoted
END
```

```output
text

> quoted
```
"""


def test_a_block_that_can_be_copied_whole_is_one_command(root: Path) -> None:
    [command] = checks.commands(page(root, SCRIPT))
    assert command.text == "cat <<END\ntext\n\n> quoted\nEND"
    assert command.output == ("text", "", "> quoted")
    assert command.line == 1


def test_output_that_looks_like_a_further_line_is_output() -> None:
    [command] = commands_of([Fence(10, "console", ("$ cat", "text", "> quoted"))])
    assert (command.text, command.output) == ("cat", ("text", "> quoted"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("```console\noutput\n```\n", "line 2: a console block starts with"),
        ("```console\n$ cat <<END\n> text\n> END\n```\n", "line 3: .* cannot be copied"),
        ("```console\n$ cat <<END\n>\n> END\n```\n", "line 3: .* cannot be copied"),
        (CONSOLE + "```output\ntext\n```\n", "line 8: an output block follows its sh block"),
        (SCRIPT + "```output\ntext\n```\n", "line 14: an output block follows its sh block"),
    ],
)
def test_blocks_that_are_no_commands_are_refused(root: Path, text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        checks.commands(page(root, text))


def test_wrong_outputs_can_be_written_anew_unless_something_is_left_out(root: Path) -> None:
    text = "```console\n$ first\nold\n$ second\nold\n...\n```\n"
    made = checks.update_outputs(page(root, text), says("new\nand more\n", "second\nnew\n"))
    assert made.text == "```console\n$ first\nnew\nand more\n$ second\nold\n...\n```\n"


def test_the_output_of_a_copied_block_can_be_written_anew(root: Path) -> None:
    made = checks.update_outputs(page(root, SCRIPT), says("new\n"))
    assert made.text == SCRIPT.replace("```output\ntext\n\n> quoted\n", "```output\nnew\n")
    silent = page(root, SCRIPT.partition("```output")[0])
    assert checks.update_outputs(silent, says("new\n")).text == silent.text


def test_commands_run_in_a_copy_with_a_bare_python(tmp_path: Path) -> None:
    shell = Shell(ROOT, tmp_path)
    where, code = shell.run("pwd; touch made; env | cut -d= -f1 | sort | tr '\\n' ' '")
    assert code == 0
    assert where.splitlines()[0] == str(shell.root)
    assert {"HOME", "LANG", "PATH"} <= set(where.splitlines()[1].split())
    assert "VIRTUAL_ENV" not in where
    assert not (ROOT / "made").exists()
    alone, code = shell.run("python3 -c 'import sys; print(sys.prefix == sys.base_prefix)'")
    assert (alone, code) == ("True\n", 0)
    assert shell.run("exit 3") == ("", 3)


def test_exercises_are_as_handed_out_also_for_a_learner_who_committed_some(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        who = ["-c", "user.name=learner", "-c", "user.email=learner@example.org"]
        subprocess.run(["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True)

    stub = "def first():\n    raise NotImplementedError\n\n\nTABLE: list | None = None\n"
    name = "curriculum/lessons/s01_a/exercises.py"
    file = tmp_path / name
    file.parent.mkdir(parents=True)
    git("init")
    done = stub.replace("raise NotImplementedError", "return 1")
    for text in ("# an older stub\n" + stub, stub, done):
        file.write_text(text)
        assert handed_out(tmp_path, name).decode() == (text if text.endswith(stub) else stub)
        git("add", ".")
        git("commit", "-m", "one more")
    file.write_text("def first(:\n")
    assert handed_out(tmp_path, name).decode() == stub
    file.write_text(stub.replace("= None", "= []"))
    assert handed_out(tmp_path, name).decode() == stub


# Quotes


def test_a_quote_equals_its_region(root: Path) -> None:
    assert list(checks.stale_quotes(page(root, QUOTED), root)) == []


def test_a_region_is_dedented_and_holds_inner_regions_without_their_marks(root: Path) -> None:
    outer = "\n".join(checks.region(root, "box.py#all"))
    assert outer == (
        "def first(self):\n    return 1\n\n"
        "def second(self):\n    return 2\n\n"
        "def third(self):\n    return 3"
    )


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("Box.third", ("def third(self):", "    return 3")),
        ("lid", ("@cache", "def lid():", "    return 4")),
        ("Lid", ("class Lid:", "    pass")),
    ],
)
def test_what_is_no_region_may_be_a_function_or_a_class(
    root: Path, name: str, lines: tuple[str, ...]
) -> None:
    tail = "\n@cache\ndef lid():\n    # region: x\n    return 4\n    # endregion\n"
    (root / "box.py").write_text(SOURCE + tail + "\nclass Lid:\n    pass\n")
    assert checks.region(root, f"box.py#{name}") == lines
    with pytest.raises(checks.QuoteError, match="no region, function or class"):
        checks.region(root, "box.py#Lid.third")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("return 2", "return 3", "not what box.py#inner says"),
        ("    return 2\n", "", "not what box.py#inner says"),
        ("box.py#inner", "box.py#gone", "box.py has no region, function or class 'gone'"),
        ("box.py#inner", "gone.py#inner", "there is no file gone.py"),
        ("<!-- quote: box.py#inner -->\n", "", "quotes no file"),
        ("-->\n", "-->\nA sentence between.\n", "quotes no file"),
        ("[`box.py`](box.py)\n", "", "shows no path"),
        ("[`box.py`]", "[`fox.py`]", "shows no path"),
        ("(box.py)", "(fox.py)", "shows no path"),
        ("(box.py)\n", "(box.py)\n\n", "shows no path"),
        ("```python", "```yaml", "is not checked"),
        (
            "<!-- quote: box.py#inner -->\n[`box.py`](box.py)\n```python",
            "```toml",
            "quotes no file",
        ),
    ],
)
def test_a_stale_quote_is_found(root: Path, old: str, new: str, problem: str) -> None:
    assert old in QUOTED
    [found] = checks.stale_quotes(page(root, QUOTED.replace(old, new)), root)
    assert problem in found


@pytest.mark.parametrize("old", ["[`box.py`](box.py)\n", "`](box.py)"])
def test_the_path_of_quoted_code_is_written_for_readers(root: Path, old: str) -> None:
    new = "" if old.endswith("\n") else "`](fox.py)"
    pathless = page(root, "before\n\n" + QUOTED.replace(old, new) + "\nafter\n")
    assert pathless.text.count(old) == 0
    assert checks.update_quotes(pathless, root).text == "before\n\n" + QUOTED + "\nafter\n"


def test_the_path_of_quoted_code_is_a_link_from_its_page(root: Path) -> None:
    (root / "en").mkdir()
    deep = page(root, QUOTED, "en/page.md")
    assert "[`box.py`](../box.py)\n" in checks.update_quotes(deep, root).text


def test_quotes_are_written_anew_from_their_files(root: Path) -> None:
    stale = page(
        root, "before\n\n" + QUOTED.replace("return 2", "return 3\n    # old") + "\nafter\n"
    )
    assert checks.update_quotes(stale, root).text == "before\n\n" + QUOTED + "\nafter\n"


# Links and names


def test_links_that_lead_somewhere_pass(root: Path) -> None:
    page(root, '# Über `uns` & more\n\n## Twice\n\n## Twice\n<a id="term"></a>\n', "other.md")
    text = (
        "# Here\n[a](other.md) [b](other.md#über-uns--more) [c](other.md#twice-1) [d](#here) "
        "[e](other.md#term) [f](box.py) [g](https://example.org/) `[h](gone.md)`\n"
        "```text\n[i](gone.md)\n```\n"
    )
    assert list(checks.dead_links(page(root, text), root)) == []


@pytest.mark.parametrize(
    "target",
    ["gone.md", "#gone", "other.md#gone", "box.py#L3", "../../outside.md", "http://example.org/"],
)
def test_a_dead_link_is_found(root: Path, target: str) -> None:
    page(root, "# Other\n", "other.md")
    [problem] = checks.dead_links(page(root, f"# Here\n\n[text]({target})\n"), root)
    assert problem.startswith("page.md:3: ")


@pytest.mark.parametrize(
    ("code", "known"),
    [
        ("curriculum/core/loop.py", True),
        ("curriculum/core/gone.py", False),
        ("python3 -m curriculum.lessons.s01_agent_loop.demo", True),
        ("python3 -m curriculum.gone", False),
        ("make demo", True),
        ("make gone", False),
        ("make it so", False),
        ("anything else", True),
    ],
)
def test_names_in_inline_code_are_looked_up(root: Path, code: str, known: bool) -> None:
    found = list(checks.unknown_names(page(root, f"See `{code}`.\n"), ROOT))
    assert len(found) == (not known)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Enter `python -m pytest`.", 1),
        ("```console\n$ python -m pytest\n```", 1),
        ("```text\npython -m pytest FILE\n```", 1),
        ("`python3 -m unittest` or `.venv/bin/python -m pytest`", 0),
        (QUOTED.replace("def second(self):", "# python -m box"), 0),
    ],
)
def test_a_python_that_may_not_be_there_is_found(root: Path, text: str, found: int) -> None:
    assert len(list(checks.missing_pythons(page(root, text)))) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("*[增量](x)* 是一段文本", 0),
        ("*[增量](x)*是一段文本", 1),
        ("它带有*[状态](x)*，", 1),
        ("**三条。** 文字", 0),
        ("**三条。**文字", 1),
        ("*模型*接收消息", 0),
        ("`a)*b` and a * b", 0),
    ],
)
def test_stars_that_stay_stars_are_found(root: Path, text: str, found: int) -> None:
    assert len(list(checks.broken_emphasis(page(root, text + "\n")))) == found


def test_an_exercise_that_the_stubs_do_not_define_is_found(root: Path) -> None:
    stubs = "def first():\n    ...\n\nSECOND = 2\n\nclass Third:\n    pass\n"
    text = "### A · `first`\n### B · `SECOND`\n### C · `Third`\n### D · `fourth`\n"
    [problem] = checks.exercise_names(page(root, text), stubs)
    assert problem == "page.md:4: exercises.py defines no fourth"


# Shape


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("# T\n## One\n", "'Two' is missing"),
        ("# T\n## Two\n## One\n", "not in order"),
        ("# T\n## One\n## Two\n## More\n", "'More' is not one of a lesson"),
        ("## One\n## Two\n", "one title"),
    ],
)
def test_a_missing_section_is_found(root: Path, text: str, problem: str) -> None:
    assert list(checks.missing_sections(page(root, "# T\n## One\n## Two\n"), ("One", "Two"))) == []
    [found] = checks.missing_sections(page(root, text), ("One", "Two"))
    assert problem in found


ENGLISH = "# Title\n\n## Part\n\nSee [this](#part), [that](../zh/x.md).\n\n" + CONSOLE + QUOTED
CHINESE = "# 标题\n\n## 部分\n\n见[此处](#部分)、[那里](../en/x.md)。\n\n" + CONSOLE + QUOTED


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("## 部分", "### 部分", "headings"),
        ("## 部分", "## 部分\n\n## 多余", "headings"),
        ("[那里](../en/x.md)", "那里", "links"),
        ("../en/x.md", "../en/y.md", "links"),
        ("three", "four", "commands and outputs"),
        ("box.py#inner", "box.py#all", "blocks"),
    ],
)
def test_languages_that_differ_are_found(root: Path, old: str, new: str, part: str) -> None:
    english = page(root, ENGLISH, "english.md")
    assert list(checks.differences(english, page(root, CHINESE, "chinese.md"))) == []
    assert old in CHINESE
    [found] = checks.differences(english, page(root, CHINESE.replace(old, new), "chinese.md"))
    assert f"differ in their {part}" in found


# Reading time


def test_words_of_text_and_tables_take_their_time_and_marks_none(root: Path) -> None:
    words = "word " * 100 + "\n\n| a [link](to/a/long/path.md) | " + "b " * 136 + "|\n|---|---|\n"
    unseen = "<!-- a comment -->\n\n![a picture that is told](to.svg)\n\n<a id='x'></a>\n"
    assert minutes(page(root, words + unseen)) == (pytest.approx(1), 0)


def test_characters_are_counted_one_by_one_and_the_words_among_them_too(root: Path) -> None:
    assert minutes(page(root, "模型说 `stop`，"))[0] == pytest.approx(3 / 300 + 1 / 238)


def test_code_is_read_at_half_the_pace_of_text(root: Path) -> None:
    block = "```python\nself.box = first(1)\n```\n"
    shown = minutes(page(root, block))[0]
    quoted = minutes(page(root, "<!-- quote: box.py#inner -->\n" + block))[0]
    assert (shown, quoted) == (pytest.approx(4 / 238), pytest.approx(4 / 119))


def test_what_is_folded_takes_no_time(root: Path) -> None:
    folded = "<details><summary>Answer</summary>\n\nwords\n\n```\nwords\n```\n\n</details>\n"
    assert minutes(page(root, folded)) == (0, 0)


@pytest.mark.parametrize(("deep", "heading"), [("Deep dive", 2 / 238), ("深入", 2 / 300)])
def test_the_deep_dive_is_told_apart(root: Path, deep: str, heading: float) -> None:
    text = f"one\n\n## {deep}\n\ntwo\n\n### three\n\n```\nfour\n```\n\n## five\n\nsix\n"
    taken = (pytest.approx(3 / 238), pytest.approx(heading + 3 / 238))
    assert minutes(page(root, text)) == taken
