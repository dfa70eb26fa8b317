"""The tool kit is graded: wrong definitions, and a Bash that acts too early."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from curriculum.core.tools import Prepared, ToolDefinition
from curriculum.core.values import replace
from curriculum.grading.read_file import ReaderUnderTest, grade_read_file
from curriculum.grading.tool_conformance import check_tool
from curriculum.lessons.s03_bash_tool import solutions
from curriculum.tests.test_s03 import BashUnderTest
from curriculum.tools.bash import Bash


def defined(**fields: object) -> type[solutions.ReadFile]:
    """A ReadFile with other fields in its definition."""

    class Defined(solutions.ReadFile):
        @property
        def definition(self) -> ToolDefinition:
            return replace(super().definition, **fields)

    return Defined


def schema(**fields: object) -> dict[str, object]:
    return {**solutions.string_schema("path", "A path."), **fields}


WRONG_DEFINITIONS: dict[str, tuple[type[solutions.ReadFile], str]] = {
    "a name with a space": (defined(name="read file"), "a name that providers accept"),
    "no description": (defined(description=""), "a description that tells the model"),
    "no JSON": (defined(parameters=schema(required={"path"})), "a descriptor of plain JSON data"),
    "an array": (defined(parameters=schema(type="array")), "a JSON Schema of an object"),
    "no properties": (defined(parameters={"type": "object"}), "an object with properties"),
    "open": (defined(parameters=schema(additionalProperties=True)), "what prepare refuses"),
    "another field": (defined(parameters=schema(properties={"file": {}})), "every field in the"),
    "a required stranger": (
        defined(parameters=schema(required=["path", "mode"])),
        "required fields that are properties",
    ),
}


@pytest.mark.parametrize("name", WRONG_DEFINITIONS)
def test_a_wrong_definition_is_told_why(name: str) -> None:
    wrong, message = WRONG_DEFINITIONS[name]
    with pytest.raises(AssertionError) as failure:
        grade_read_file(wrong)
    assert "definition:" in str(failure.value)
    assert message in str(failure.value)


class Acts(Bash):
    """Runs the command to see whether it works, before anybody is asked."""

    def prepare(self, arguments: str) -> Prepared:
        prepared = super().prepare(arguments)
        os.system(f"cd {prepared.display['directory']} && touch tried")
        return prepared


class BashThat(BashUnderTest):
    """The harness, with another Bash in it."""

    def __init__(self, folder: str, make: type[Bash]) -> None:
        super().__init__(folder)
        self._make = make

    def build(self) -> Bash:
        super().build()
        return self._make(str(self._folder), {"PATH": "/usr/bin:/bin"}, output_limit=self.limit)


def test_a_bash_that_acts_when_it_prepares_fails_the_kit(tmp_path: Path) -> None:
    assert check_tool(BashThat(str(tmp_path), Bash)) == []
    [*findings] = check_tool(BashThat(str(tmp_path), Acts))
    assert [finding.partition(":")[0] for finding in findings] == [
        "bad arguments",
        "prepare changes nothing",
        "denied",
    ][-len(findings) :]
    assert "a denied call to leave the world as it was" in findings[-1]


def test_a_check_that_is_lacking_must_exist() -> None:
    with tempfile.TemporaryDirectory() as folder:
        under_test = ReaderUnderTest(solutions.ReadFile, Path(folder))
        under_test.lacks = {"telepathy": "not built in"}
        with pytest.raises(ValueError, match="telepathy"):
            check_tool(under_test)
