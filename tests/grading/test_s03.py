"""The graders of s03 are graded: the reference passes, and each wrong solution is told why."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from curriculum.core.errors import InvalidArgumentsError
from curriculum.core.tools import Prepared, RunningCall, ToolDefinition, ToolResult
from curriculum.core.trace import Event
from curriculum.core.values import replace
from curriculum.grading.read_file import ReaderUnderTest, grade_read_file
from curriculum.grading.result_status import SITUATIONS, grade_result_status, observe_situation
from curriculum.grading.s03 import grade_pair_results, grade_word_count
from curriculum.grading.tool_conformance import check_tool
from curriculum.lessons.s03_bash_tool import solutions
from curriculum.tests.test_s03 import BashUnderTest
from curriculum.tools.bash import Bash


def test_the_reference_passes() -> None:
    grade_pair_results(solutions.pair_results)
    grade_word_count(solutions.WordCount)
    assert solutions.RESULT_STATUS is not None
    grade_result_status(solutions.RESULT_STATUS)
    grade_read_file(solutions.ReadFile)


# A. pair_results

Pairs = dict[str, tuple[str, str] | None]


def pick(events: Sequence[Event], type: str) -> list[Mapping[str, object]]:
    return [event.payload for event in events if event.type == type]


def by_position(events: Sequence[Event]) -> object:
    calls, results = pick(events, "tool.call"), pick(events, "tool.result")
    pairs = [(result["status"], result["output"]) for result in reversed(results)]
    return {
        call["call_id"]: pairs[number] if number < len(pairs) else None
        for number, call in enumerate(calls)
    }


def only_results(events: Sequence[Event]) -> object:
    return {r["call_id"]: (r["status"], r["output"]) for r in pick(events, "tool.result")}


def only_started(events: Sequence[Event]) -> object:
    started = {start["call_id"] for start in pick(events, "tool.start")}
    pairs = solutions.pair_results(events)
    return {call_id: pair for call_id, pair in pairs.items() if pair is None or call_id in started}


def failures_left_out(events: Sequence[Event]) -> object:
    pairs = solutions.pair_results(events)
    return {i: pair for i, pair in pairs.items() if pair is None or pair[0] == "completed"}


def starts_as_results(events: Sequence[Event]) -> object:
    running = {start["call_id"]: ("unknown", "") for start in pick(events, "tool.start")}
    return {**{i: pair or running.get(i) for i, pair in solutions.pair_results(events).items()}}


def approvals_count_too(events: Sequence[Event]) -> object:
    asked = {str(q["approval_id"]): None for q in pick(events, "approval.request")}
    return {**solutions.pair_results(events), **asked}


def all_the_same(events: Sequence[Event]) -> object:
    pairs = solutions.pair_results(events)
    last = next((pair for pair in reversed(pairs.values()) if pair), None)
    return dict.fromkeys(pairs, last)


WRONG_PAIRS: dict[str, tuple[Callable[[Sequence[Event]], object], str]] = {
    "paired by position": (by_position, "which is the result of 'id-"),
    "open calls left out": (only_results, "your result does not know that call"),
    "only what started": (only_started, "your result does not know that call"),
    "failures left out": (failures_left_out, "your result does not know that call"),
    "a start taken for a result": (starts_as_results, "still open: None"),
    "approvals taken for calls": (approvals_count_too, r"you also have \['approval-"),
    "the last result for all": (all_the_same, "which is the result of"),
    "status only": (
        lambda events: {i: pair and pair[0] for i, pair in solutions.pair_results(events).items()},
        "you say",
    ),
    "a list": (lambda events: list(solutions.pair_results(events).items()), "a dict from call_id"),
    "hard-coded": (lambda events: {"call-1": ("completed", "6\n")}, "does not know that call"),
    "crashes on an open trace": (
        lambda events: {
            call["call_id"]: next(
                (r["status"], r["output"])
                for r in pick(events, "tool.result")
                if r["call_id"] == call["call_id"]
            )
            for call in pick(events, "tool.call")
        },
        "StopIteration",
    ),
}


@pytest.mark.parametrize("name", WRONG_PAIRS)
def test_wrong_pairs_are_told_why(name: str) -> None:
    wrong, message = WRONG_PAIRS[name]
    with pytest.raises(AssertionError, match=message):
        grade_pair_results(wrong)  # type: ignore[arg-type]


# B. WordCount


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


# C. RESULT_STATUS


def changed(situation: str, fact: str, prediction: object) -> dict[str, dict[str, object]]:
    assert solutions.RESULT_STATUS is not None
    table = {name: dict(row) for name, row in solutions.RESULT_STATUS.items()}
    assert table[situation][fact] != prediction
    table[situation][fact] = prediction
    return table


WRONG_STATUSES: dict[str, tuple[object, str]] = {
    "denied is failed": (
        changed("denied", "status", "failed"),
        "'denied': you predict status 'failed', the trace shows 'denied'",
    ),
    "a denied call starts": (
        changed("denied", "starts", True),
        "'denied': you predict starts True, the trace shows False",
    ),
    "a refusal is kept from the model": (
        changed("arguments break the definition", "model reads it", False),
        "you predict model reads it False, the trace shows True",
    ),
    "invalid arguments are asked about": (
        changed("arguments break the definition", "asked", True),
        "you predict asked True, the trace shows False",
    ),
    "a bug is a failure": (
        changed("the tool has a bug", "status", "failed"),
        "'the tool has a bug': you predict status 'failed', the trace shows 'unknown'",
    ),
    "the model reads what came last": (
        changed("no model request is left", "model reads it", True),
        "'no model request is left': you predict model reads it True",
    ),
    "the last batch runs": (
        changed("no model request is left", "status", "completed"),
        "you predict status 'completed', the trace shows 'not_executed'",
    ),
    "no answer is a no": (
        changed("the approver has a bug", "status", "denied"),
        "'the approver has a bug': you predict status 'denied', the trace shows 'not_executed'",
    ),
    "a cancelled call is unknown": (
        changed("cancelled before its turn", "status", "unknown"),
        "you predict status 'unknown', the trace shows 'not_executed'",
    ),
    "hyphens": (
        changed("no tool has that name", "status", "unknown-tool"),
        "you predict status 'unknown-tool', the trace shows 'unknown_tool'",
    ),
    "a row left out": ({"denied": {}}, "one row for each of allowed and it works"),
    "a column left out": ({s: {} for s in SITUATIONS}, "the columns status, asked"),
}


@pytest.mark.parametrize("name", WRONG_STATUSES)
def test_wrong_statuses_are_told_why(name: str) -> None:
    wrong, message = WRONG_STATUSES[name]
    with pytest.raises(AssertionError, match=message):
        grade_result_status(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("situation", SITUATIONS)
def test_a_situation_has_the_same_outcome_every_time(situation: str) -> None:
    assert len({str(observe_situation(situation, seed)) for seed in range(20)}) == 1


# D. ReadFile


class Reader(solutions.ReadFile):
    """Right, but for what a subclass does."""

    def _bytes(self, path: str) -> bytes:
        return Path(self._directory, path).read_bytes()

    def _result(self, data: bytes) -> ToolResult:
        cut = data[: self._limit_bytes]
        return ToolResult(
            "completed", cut.decode("utf-8", "replace"), truncated=len(data) > len(cut)
        )


class FollowsLinks(Reader):
    """Trusts that a path without '..' stays inside."""

    def _read(self, path: str) -> bytes:
        with open(os.path.join(self._directory, path), "rb") as file:
            return file.read(self._limit_bytes + 1)


class ChecksOnlyWhenPrepared(solutions.ReadFile):
    """Resolves the path early: what is there later may be something else."""

    def prepare(self, arguments: str) -> Prepared:
        prepared = super().prepare(arguments)
        real = os.path.realpath(os.path.join(self._directory, str(prepared.action)))
        if os.path.commonpath([real, self._directory]) != self._directory:
            raise InvalidArgumentsError("it lies outside")
        return prepared

    def _read(self, path: str) -> bytes:
        with open(os.path.join(self._directory, path), "rb") as file:
            return file.read(self._limit_bytes + 1)


class ComparesPrefixes(solutions.ReadFile):
    """Allows '..' and compares names as text: inside-out is inside, too."""

    def prepare(self, arguments: str) -> Prepared:
        path = solutions.one_string(arguments, "path")
        if not os.path.join(self._directory, path).startswith(self._directory):
            raise InvalidArgumentsError("it lies outside")
        return Prepared({"path": path}, path)


class ReadsEverything(Reader):
    """Cuts after it has read the whole file."""

    def _read(self, path: str) -> bytes:
        super()._read(path)
        return self._bytes(path)


class HalfACharacter(Reader):
    """Decodes what the cut left, also half a character."""

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        try:
            return self._result(self._read(str(prepared.action)))
        except OSError as fault:
            return ToolResult("failed", str(fault))


class CountsCharacters(Reader):
    """A limit in characters is no limit in bytes."""

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        try:
            data = self._read(str(prepared.action)) and self._bytes(str(prepared.action))
        except OSError as fault:
            return ToolResult("failed", str(fault))
        text = data.decode("utf-8", "replace")
        return ToolResult("completed", text[: self._limit_bytes], truncated=len(text) > 100)


class OffByOne(solutions.ReadFile):
    """A file of exactly the limit counts as cut."""

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        result = super().execute(prepared, call)
        full = len(result.output.encode()) >= self._limit_bytes
        return ToolResult(result.status, result.output, truncated=result.truncated or full)


class NeverTruncated(solutions.ReadFile):
    """Cuts and does not say so."""

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        result = super().execute(prepared, call)
        return ToolResult(result.status, result.output)


class Raises(solutions.ReadFile):
    """A missing file is an exception."""

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        data = self._read(str(prepared.action))[: self._limit_bytes]
        return ToolResult("completed", data.decode("utf-8", "ignore"))


class SwallowsFailure(solutions.ReadFile):
    """A missing file is an empty one."""

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        result = super().execute(prepared, call)
        return ToolResult("completed", "" if result.status == "failed" else result.output)


class ReadsWhenPrepared(solutions.ReadFile):
    """The file is read before anybody has allowed it."""

    def prepare(self, arguments: str) -> Prepared:
        prepared = super().prepare(arguments)
        running = RunningCall("", None, None)  # type: ignore[arg-type]
        return Prepared(prepared.display, super().execute(prepared, running))

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        assert isinstance(prepared.action, ToolResult)
        return prepared.action


class RunsTheDisplay(solutions.ReadFile):
    """What runs is what was shown, and people may change what is shown."""

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        return super().execute(Prepared({}, prepared.display["path"]), call)


class TextMode(Reader):
    """Line ends are translated."""

    def _read(self, path: str) -> bytes:
        return super()._read(path).replace(b"\r\n", b"\n").replace(b"\r", b"\n")


class WaitsForAPipe(Reader):
    """Opens whatever is there, and waits for the other end of a pipe."""

    def _read(self, path: str) -> bytes:
        real = os.path.realpath(os.path.join(self._directory, path))
        if os.path.commonpath([real, self._directory]) != self._directory:
            raise PermissionError("outside")
        with open(real, "rb") as file:
            return file.read(self._limit_bytes + 1)


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


class Returns(solutions.ReadFile):
    """Gives something back that is not what a tool gives back."""

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        return super().execute(prepared, call).output  # type: ignore[return-value]


class RefusesLate(solutions.ReadFile):
    """Says in execute what only prepare may say."""

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        result = super().execute(prepared, call)
        return replace(result, status="not_executed") if result.status == "failed" else result


class GivesBytes(solutions.ReadFile):
    """Output that is not text yet."""

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        result = super().execute(prepared, call)
        return replace(result, output=result.output.encode())


class NumbersItsCalls(solutions.ReadFile):
    """The same call looks different each time."""

    _count = 0

    def prepare(self, arguments: str) -> Prepared:
        self._count += 1
        prepared = super().prepare(arguments)
        return replace(prepared, display={**prepared.display, "number": self._count})


class ShowsAnObject(solutions.ReadFile):
    """A display that people cannot read and a trace cannot hold."""

    def prepare(self, arguments: str) -> Prepared:
        return replace(super().prepare(arguments), display={"path": Path("note.txt")})


class AlwaysFails(solutions.ReadFile):
    """Safe."""

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        return ToolResult("failed", "not today")


class Stingy(solutions.ReadFile):
    """Keeps to half of the limit."""

    def __init__(self, directory: str, limit_bytes: int) -> None:
        super().__init__(directory, limit_bytes // 2)


class ParserFaults(solutions.ReadFile):
    """Lets the parser's own error out."""

    def prepare(self, arguments: str) -> Prepared:
        return super().prepare(json.dumps({"path": json.loads(arguments)["path"]}))


class SilentReader(solutions.ReadFile):
    """Refuses without a word."""

    def prepare(self, arguments: str) -> Prepared:
        try:
            return super().prepare(arguments)
        except InvalidArgumentsError:
            raise InvalidArgumentsError from None


class ListsFolders(solutions.ReadFile):
    """Does more than it was asked for."""

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        folder = Path(self._directory, str(prepared.action))
        if folder.is_dir():
            return ToolResult("completed", "\n".join(os.listdir(folder)))
        return super().execute(prepared, call)


class LeavesANote(solutions.ReadFile):
    """Writes a log into the folder when it prepares."""

    def prepare(self, arguments: str) -> Prepared:
        Path(self._directory, "log.txt").write_text(arguments, "utf-8", "replace")
        return super().prepare(arguments)


WRONG_READERS: dict[type[solutions.ReadFile], list[str]] = {
    FollowsLinks: ["a link that leads out of the directory to be refused or to fail"],
    ChecksOnlyWhenPrepared: ["replaced by a link after it was prepared"],
    ComparesPrefixes: ["bad arguments:", "an empty path, .*: accepted"],
    ReadsEverything: ["to be read up to the limit of 100 only", "bytes of memory"],
    HalfACharacter: ["bounded output:", "output cut between two characters"],
    CountsCharacters: ["bounded output:", "at most 100 bytes of output"],
    OffByOne: ["of exactly the limit: completed, .* truncated=False"],
    NeverTruncated: ["bounded output:", "truncated to be set where output was cut"],
    Raises: ["failure:", "it raised FileNotFoundError"],
    SwallowsFailure: ["failure:", "a result with status failed that says why"],
    ReadsWhenPrepared: ["to be read when the call is executed, not when it is prepared"],
    RunsTheDisplay: ["runs what was prepared:", "the display was changed"],
    TextMode: ["line ends of all kinds"],
    WaitsForAPipe: ["only regular files are read", "after waiting for a writer"],
    Returns: ["runs what was prepared:", "execute to return a ToolResult"],
    RefusesLate: ["failure:", "a status of something that ran", "status 'not_executed'"],
    GivesBytes: ["runs what was prepared:", "output that is text"],
    NumbersItsCalls: ["prepare changes nothing:", "to be prepared in the same way"],
    ShowsAnObject: ["display:", "JSON scalars or flat mappings"],
    AlwaysFails: ["runs what was prepared:", "a good call to complete"],
    Stingy: ["bounded output:", "output up to the limit of 100 bytes"],
    ParserFaults: ["bad arguments:", "a refusal with InvalidArgumentsError", "JSONDecodeError"],
    SilentReader: ["bad arguments:", "a refusal the model can learn from"],
    ListsFolders: ["a folder to be a failed call"],
    LeavesANote: ["prepare changes nothing:", "to leave the world as it was"],
}


@pytest.mark.parametrize("wrong", WRONG_READERS)
def test_wrong_readers_are_told_why(wrong: type[solutions.ReadFile]) -> None:
    with pytest.raises(AssertionError) as failure:
        grade_read_file(wrong)
    for message in WRONG_READERS[wrong]:
        assert re.search(message, str(failure.value))


# The kit, with Bash in it


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
