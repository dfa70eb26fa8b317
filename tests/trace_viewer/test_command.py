"""The `view` command: what it writes, what it refuses, and what the page is made of."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curriculum.core.visible import escape
from curriculum.trace.describe import describe
from curriculum.trace.machine import STATES
from curriculum.trace.viewer.blocks import BLOCK_EVENTS, Digest, as_seen, embed
from curriculum.trace.viewer.page import FOLDER, Page, join_modules
from tests.golden import GOLDEN
from tests.trace.commands import run
from tests.trace.story import calls, numbered, user

Write = Callable[..., Path]
GOLD = GOLDEN / "s04_approvals.jsonl"


def hash_of(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_the_policy_names_what_stands_in_the_file(write: Write) -> None:
    page = write(GOLD).read_text("utf-8")
    policy = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)[0]
    script = re.findall(r'<script type="module">(.*?)</script>', page, re.DOTALL)
    style = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    assert len(script) == len(style) == 1
    assert f"script-src {hash_of(script[0])};" in policy
    assert f"style-src {hash_of(style[0])};" in policy
    assert policy.startswith("default-src 'none';")
    for open_door in ("unsafe", "*", "http", "connect-src"):
        assert open_door not in policy


def test_the_page_names_no_other_place(write: Write) -> None:
    parts = "".join(path.read_text("utf-8") for path in FOLDER.iterdir())
    assert re.findall(r"https?:|\bsrc=|@import|url\((?!#)", parts) == []
    for sink in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert sink not in parts
    assert re.findall(r'\son\w+="|style="', (FOLDER / "page.html").read_text("utf-8")) == []


def test_the_page_is_whole_and_only_its_owner_reads_it(write: Write) -> None:
    path = write(GOLD)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text("utf-8").rstrip().endswith("</html>")
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_page_is_the_same_each_time(tmp_path: Path) -> None:
    made = []
    for name in ("a.html", "b.html"):
        assert run("view", GOLD, "--output", tmp_path / name, "--no-open").returncode == 0
        made.append((tmp_path / name).read_bytes())
    assert made[0] == made[1]


def test_without_output_the_file_is_temporary_and_named(tmp_path: Path) -> None:
    done = run("view", GOLD, "--no-open", env={"TMPDIR": str(tmp_path)})
    path = Path(done.stdout.removeprefix("wrote ").rstrip("\n"))
    assert path.is_relative_to(tmp_path)
    assert path.name == "s04_approvals.html"
    assert path.is_file()
    assert path.parent.name.startswith("trace-view-")
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert run("view", "missing", "--no-open", env={"TMPDIR": str(tmp_path)}).returncode == 66
    assert list(tmp_path.iterdir()) == [path.parent]
    done = run("view", "-", "--no-open", data=GOLD.read_bytes(), env={"TMPDIR": str(tmp_path)})
    assert done.stdout.endswith("/trace.html\n")


def test_a_browser_is_opened_unless_there_is_none(tmp_path: Path) -> None:
    page = tmp_path / "a page.html"
    seen = tmp_path / "seen"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > "{seen}"\n')
    browser.chmod(0o700)
    done = run("view", GOLD, "--output", page, env={"BROWSER": str(browser)})
    assert done.returncode == 0
    assert seen.read_text().strip() == page.as_uri()
    missing = str(tmp_path / "missing")
    nowhere = {"BROWSER": missing, "PATH": str(tmp_path), "DISPLAY": "", "WAYLAND_DISPLAY": ""}
    done = run("view", GOLD, "--output", page, env=nowhere)
    assert done.returncode == 0
    assert f"open {page.as_uri()}" in done.stdout


def test_standard_input_is_a_trace_too(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = run("view", "-", GOLD, "--output", page, "--no-open", data=GOLD.read_bytes())
    assert done.returncode == 0
    assert "standard input" in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["FILE", "FILE", "FILE"], 64, "two to compare"),
        (["-", "-"], 64, "not both"),
        (["missing"], 66, "missing: no such file"),
        (["FOLDER"], 66, "is a directory"),
        (["EMPTY"], 65, "no events in it"),
        (["FILE", "EMPTY"], 65, "no events in it"),
        (["FILE", "--output", "FILE"], 64, "is the trace itself"),
        (["FILE", "--output", "FOLDER/none/page.html"], 74, "no such file"),
        (["FILE", "FILE", "--serve"], 64, "follows one file"),
        (["-", "--serve"], 64, "follows one file"),
        (["FILE", "--serve", "--output", "x.html"], 64, "follows one file"),
        (["missing", "--serve"], 66, "missing: no such file"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    tmp_path: Path, words: list[str], code: int, said: str
) -> None:
    (tmp_path / "empty.jsonl").write_bytes(b"")
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(GOLD.read_bytes())
    places = {"FILE": str(copy), "FOLDER": str(tmp_path), "EMPTY": str(tmp_path / "empty.jsonl")}
    given = [re.sub("FILE|FOLDER|EMPTY", lambda m: places[m[0]], word) for word in words]
    done = run("view", *given, "--no-open")
    assert done.returncode == code
    assert said in done.stderr.lower()
    assert done.stderr.count("\n") == 1
    assert copy.read_bytes() == GOLD.read_bytes()


def test_a_torn_trace_is_shown_and_said_to_be_torn(tmp_path: Path) -> None:
    torn, page = tmp_path / "torn.jsonl", tmp_path / "page.html"
    torn.write_bytes(GOLD.read_bytes()[:-10])
    assert run("view", torn, "--output", page, "--no-open").returncode == 0
    rest = len(GOLD.read_bytes().splitlines(keepends=True)[-1]) - 10
    assert f'"torn":{rest}' in page.read_text("utf-8")


# region: parts
def test_the_page_knows_the_states_in_the_same_order() -> None:
    text = (FOLDER / "machine.js").read_text("utf-8")
    named = re.findall(r'"(\w+)",', text.partition("STATES = [")[2].partition("]")[0] + ",")
    assert tuple(named) == STATES
    drawn = re.findall(r'data-state="(\w+)"', (FOLDER / "page.html").read_text("utf-8"))
    assert sorted(drawn) == sorted(STATES)


def test_every_phrase_is_there_in_both_languages_and_used() -> None:
    words = (FOLDER / "words.js").read_text("utf-8").partition("};")[0]
    phrases = re.findall(r'^  (\w+): \["(.*)", "(.*)"\],$', words, re.MULTILINE)
    assert len(phrases) == words.count("\n") - 3
    for key, english, chinese in phrases:
        assert sorted(re.findall(r"{\w+}", english)) == sorted(re.findall(r"{\w+}", chinese)), key
    known = {key for key, _, _ in phrases}
    rest = "".join(p.read_text("utf-8") for p in FOLDER.iterdir() if p.name != "words.js")
    asked = set(re.findall(r'(?:say\(|data-say=|data-label=)"(\w+)"', rest))
    assert len(asked) > 30
    assert asked <= known
    # Roles and verdicts come from the trace; their words are not asked for by name.
    unused = {key for key in known if not re.search(rf"\b{key}\b", rest)}
    assert all(key == "system" or key.startswith("verdict") for key in unused), unused


def test_modules_are_joined_behind_what_they_import() -> None:
    script = join_modules()
    order = re.findall(r'^modules\["([a-z-]+\.js)"\] =', script, re.MULTILINE)
    assert order[-1] == "main.js"
    assert sorted(order) == sorted(path.name for path in FOLDER.glob("*.js"))
    for name in order:
        text = (FOLDER / name).read_text("utf-8")
        for needed in re.findall(r'from "\./([a-z-]+\.js)"', text):
            assert order.index(needed) < order.index(name)


def test_nothing_embedded_can_end_its_element() -> None:
    assert "<" not in embed({"</script>": ["<!--", "<script>"]})


@given(st.text(), st.text(alphabet='<\\u03cbfrnt\t\r\x7f\x1b\u202e"/é'))
def test_a_line_is_the_event_with_every_text_escaped(one: str, other: str) -> None:
    event = numbered([user(one + other)])[0]
    digest = Digest()
    digest.take(event)
    block = digest.flush()
    assert block
    label, shown = json.loads(block.lines)
    assert label == describe(event)
    assert shown == as_seen(event)
    assert shown["payload"]["content"] == escape(one + other)


def test_blocks_hold_every_event_once_and_in_order() -> None:
    digest = Digest()
    events = numbered(calls())
    blocks = [digest.take({**event, "event_id": f"e-{n}"}) for n in range(60) for event in events]
    full = [block for block in [*blocks, digest.flush()] if block]
    assert len(full) > 2
    lines = [block.lines.count("\n") + 1 for block in full]
    assert lines[:-1] == [BLOCK_EVENTS] * (len(full) - 1)
    assert sum(lines) == digest.count == 60 * len(events)


def test_an_id_that_comes_again_is_another_call() -> None:
    digest = Digest()
    for event in [*numbered(calls()), *numbered(calls())]:
        digest.take(event)
    block = digest.flush()
    assert block
    index = json.loads(block.index)
    calls_named = [call for call in index["call"] if call >= 0]
    assert sorted(set(calls_named)) == [0, 1]
    assert calls_named == sorted(calls_named)


def test_a_live_page_may_ask_its_own_server_and_a_file_nobody() -> None:
    assert "connect-src 'self'" in Page(is_live=True).policy
    assert "connect-src" not in Page().policy


# endregion
