"""The grader of s03 D is graded: each wrong reader of files is told why."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from curriculum.core.errors import InvalidArgumentsError
from curriculum.core.tools import Prepared, RunningCall, ToolResult
from curriculum.core.values import replace
from curriculum.grading.read_file import grade_read_file
from curriculum.lessons.s03_bash_tool import solutions


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
