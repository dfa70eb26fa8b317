"""Where `view` writes a page when nobody says where, and what it opens then."""

from __future__ import annotations

import sys
import tempfile
import webbrowser
from pathlib import Path

import pytest

from curriculum.trace.__main__ import main
from tests.golden import GOLDEN

GOLD = GOLDEN / "s04_approvals.jsonl"


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that the browser was given; temporary files are in `tmp_path`."""
    addresses: list[str] = []
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(webbrowser, "open", lambda address: not addresses.append(address))
    return addresses


def test_a_page_for_now_is_named_after_its_trace_in_a_folder_of_its_own(
    opened: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["view", str(GOLD)]) == 0
    (page,) = tmp_path.glob("trace-view-*/s04_approvals.html")
    assert page.parent.stat().st_mode & 0o777 == 0o700
    assert page.stat().st_mode & 0o777 == 0o600
    assert capsys.readouterr().out == f"wrote {page}\n"
    assert opened == [page.as_uri()]


def test_a_page_of_standard_input_is_just_a_trace(
    opened: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with GOLD.open() as trace:
        monkeypatch.setattr(sys, "stdin", trace)
        assert main(["view", "-", "--no-open"]) == 0
    assert [page.name for page in tmp_path.glob("trace-view-*/*")] == ["trace.html"]
    assert opened == []


def test_without_a_page_there_is_no_folder(opened: list[str], tmp_path: Path) -> None:
    assert main(["view", "none.jsonl"]) == 66
    assert main(["view", str(GOLD), "--output", str(tmp_path / "none" / "page.html")]) == 74
    assert list(tmp_path.iterdir()) == []
    assert opened == []


def test_an_output_that_is_the_trace_is_refused_also_by_another_name(
    opened: list[str], tmp_path: Path
) -> None:
    trace, other = tmp_path / "trace.jsonl", tmp_path / "other"
    trace.write_bytes(GOLD.read_bytes())
    other.symlink_to(trace)
    assert main(["view", "-", str(trace), "--output", str(other)]) == 64
    assert trace.read_bytes() == GOLD.read_bytes()
    assert opened == []


def test_who_has_no_browser_is_told_what_to_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    page = tmp_path / "a page.html"
    assert main(["view", str(GOLD), "--output", str(page)]) == 0
    said = f"wrote {page}\nno browser could be started; open {page.as_uri()}\n"
    assert capsys.readouterr().out == said
