"""The corpus of traces/invalid, through both engines: exactly the findings of its manifest."""

from __future__ import annotations

import json
import re
from io import BytesIO
from typing import Any

import pytest

from curriculum.trace.codes import CODES
from curriculum.trace.engines import Engine, make_engine
from curriculum.trace.validate import Options, validate
from tests.golden import ROOT
from tests.trace import corpus

MANIFEST: dict[str, dict[str, Any]] = json.loads((corpus.FOLDER / "manifest.json").read_bytes())


@pytest.fixture(scope="module", params=["fast", "plain"])
def engine(request: pytest.FixtureRequest) -> Engine:
    made = make_engine(request.param)
    assert made.name == request.param
    return made


@pytest.mark.parametrize("name", MANIFEST)
def test_each_file_gives_exactly_the_findings_of_the_manifest(name: str, engine: Engine) -> None:
    expected = MANIFEST[name]
    options = Options(expected.get("strict", False), tuple(expected.get("secrets", ())))
    report = validate(BytesIO((corpus.FOLDER / name).read_bytes()).read, engine, options)
    found = [[finding.line, finding.code, finding.pointer] for finding in report.findings]
    assert found == expected["errors"], [finding.message for finding in report.findings]
    warned = [[finding.line, finding.code, finding.pointer] for finding in report.warnings]
    assert warned == expected.get("warnings", [])
    assert report.verdict.name.lower() == expected["verdict"]
    assert int(report.verdict) == expected["exit_code"]


def test_the_folder_holds_what_the_cases_make() -> None:
    assert corpus.differences() == []


def test_every_code_of_the_contract_has_a_file_that_is_named_for_it() -> None:
    assert len(CODES) >= 41
    for code in CODES:
        named = [name for name in MANIFEST if name.startswith(f"{code}-")]
        assert named, code
        for name in named:
            found = MANIFEST[name]["errors"] + MANIFEST[name].get("warnings", [])
            assert code in [finding[1] for finding in found], name


def test_no_file_is_large() -> None:
    for path in corpus.FOLDER.iterdir():
        assert path.name == "manifest.json" or path.stat().st_size < 32_768, path.name


def test_the_readme_shows_the_codes_as_they_are() -> None:
    text = (ROOT / "traces" / "README.md").read_text("utf-8")
    rows = re.findall(r"^\| ([A-Z]\d\d) \| (.+) \| (.+) \|$", text, re.MULTILINE)
    assert rows == [(name, code.meaning, code.fix) for name, code in CODES.items()]


def test_the_readme_of_the_corpus_names_every_field_of_the_manifest() -> None:
    text = (ROOT / "traces" / "README.md").read_text("utf-8")
    for field in {field for entry in MANIFEST.values() for field in entry}:
        assert f"`{field}`" in text, field
