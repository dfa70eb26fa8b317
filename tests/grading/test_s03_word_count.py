"""The grader of s03 B is graded: each wrong tool is told why."""

from __future__ import annotations

import json

import pytest

from curriculum.core.errors import InvalidArgumentsError
from curriculum.core.tools import Prepared, RunningCall, ToolDefinition, ToolResult
from curriculum.core.values import replace
from curriculum.grading.s03 import grade_word_count
from curriculum.lessons.s03_bash_tool import solutions


class LooseArguments(solutions.WordCount):
    """Takes what it finds and ignores the rest."""

    def prepare(self, arguments: str) -> Prepared:
        try:
            text = json.loads(arguments)["text"]
        except (ValueError, KeyError, TypeError):
            raise InvalidArgumentsError("bad arguments") from None
        return Prepared({"text": text}, text)


class AllowsDuplicates(solutions.WordCount):
    """Checks everything but that a field comes twice."""

    def prepare(self, arguments: str) -> Prepared:
        try:
            fields = json.loads(arguments)
        except ValueError:
            raise InvalidArgumentsError("no JSON") from None
        if not isinstance(fields, dict) or set(fields) != {"text"}:
            raise InvalidArgumentsError("the one field is text")
        if not isinstance(fields["text"], str):
            raise InvalidArgumentsError("text must be a string")
        return Prepared({"text": fields["text"]}, fields["text"])


class RaisesValueError(solutions.WordCount):
    """Lets the parser's own error out."""

    def prepare(self, arguments: str) -> Prepared:
        text = json.loads(arguments)["text"]
        return Prepared({"text": text}, text)


class RefusesInExecute(solutions.WordCount):
    """Checks nothing until it runs: people are asked about calls that cannot run."""

    def prepare(self, arguments: str) -> Prepared:
        return Prepared({"text": arguments}, arguments)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        try:
            checked = super().prepare(str(prepared.action))
        except InvalidArgumentsError as refusal:
            return ToolResult("failed", str(refusal))
        return super().execute(checked, call)


class KeepsTheText(solutions.WordCount):
    """The text lives in the tool, so the last one prepared is counted."""

    def prepare(self, arguments: str) -> Prepared:
        prepared = super().prepare(arguments)
        self._text = str(prepared.action)
        return prepared

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        return ToolResult("completed", str(len(self._text.split())))


class CountsSpaces(solutions.WordCount):
    """Off by one, and by more."""

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        return ToolResult("completed", str(str(prepared.action).count(" ") + 1))


class AlwaysSix(solutions.WordCount):
    """Hard-coded."""

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        return ToolResult("completed", "6")


class ReturnsANumber(solutions.WordCount):
    """Not a ToolResult."""

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        return len(str(prepared.action).split())  # type: ignore[return-value]


class SaysMore(solutions.WordCount):
    """Output is a sentence."""

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        return ToolResult("completed", f"{super().execute(prepared, call).output} words")


class HidesTheText(solutions.WordCount):
    """People are asked to allow they know not what."""

    def prepare(self, arguments: str) -> Prepared:
        return Prepared({"text": "..."}, super().prepare(arguments).action)


class OpenSchema(solutions.WordCount):
    """The schema allows what prepare refuses."""

    @property
    def definition(self) -> ToolDefinition:
        definition = super().definition
        schema = {k: v for k, v in definition.parameters.items() if k != "additionalProperties"}
        return ToolDefinition(definition.name, definition.description, schema)


class OtherName(solutions.WordCount):
    """Named otherwise."""

    @property
    def definition(self) -> ToolDefinition:
        return ToolDefinition("wordcount", "Counts.", super().definition.parameters)


class NotThere(solutions.WordCount):
    """Half done."""

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        raise NotImplementedError


class SaysNothing(solutions.WordCount):
    """Refuses without a word."""

    def prepare(self, arguments: str) -> Prepared:
        try:
            return super().prepare(arguments)
        except InvalidArgumentsError:
            raise InvalidArgumentsError from None


class Undescribed(solutions.WordCount):
    """The model has to guess."""

    @property
    def definition(self) -> ToolDefinition:
        return replace(super().definition, description=" ")


class Chatty(solutions.WordCount):
    """Shows its output while it runs, as if it took long."""

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        call.output("stdout", "counting")
        return super().execute(prepared, call)


WRONG_COUNTS: dict[type[solutions.WordCount], str] = {
    LooseArguments: "arguments with an unknown field, .*, to be refused as invalid_arguments",
    AllowsDuplicates: "arguments with a duplicate field, .*, to be refused as invalid_arguments",
    RaisesValueError: r"the run stopped as 'failed': JSONDecodeError.*line \d+",
    RefusesInExecute: "one question, with the display",
    KeepsTheText: "does the tool keep the last call",
    CountsSpaces: "a completed call with output '0'",
    AlwaysSix: "a completed call with output '0'",
    ReturnsANumber: "TypeError: the tool 'word_count' returned 0",
    SaysMore: "'output': '0 words'",
    HidesTheText: "the approver was shown",
    OpenSchema: "one required string `text`, nothing else allowed",
    OtherName: "a tool named word_count",
    SaysNothing: "a refusal that tells the model what is wrong",
    Undescribed: "a description for the model",
    Chatty: "the trace also has tool.output",
    NotThere: "NotImplementedError",
}


@pytest.mark.parametrize("wrong", WRONG_COUNTS)
def test_wrong_counts_are_told_why(wrong: type[solutions.WordCount]) -> None:
    with pytest.raises(AssertionError, match=WRONG_COUNTS[wrong]):
        grade_word_count(wrong)
