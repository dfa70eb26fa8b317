"""Exercises of s03. Edit this file only; grade it with

    python3 -m curriculum grade s03

An exercise that is still as you found it is skipped. `solutions.py` holds one way to do each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from curriculum.core.tools import Prepared, RunningCall, ToolDefinition, ToolResult
from curriculum.core.trace import Event


# region: pair_results
def pair_results(events: Sequence[Event]) -> dict[str, tuple[str, str] | None]:
    """A. Read a trace: what became of each call?

    Return a dict from the call_id of every tool.call to (status, output) of its tool.result, or to
    None while it has none: `events` may be only the beginning of a trace.

    Accepted for traces with results of every status, in any order.
    """
    raise NotImplementedError


# endregion


# region: word_count
class WordCount:
    """B. A tool of your own in three steps: it counts the words of a text.

    definition  name "word_count", a description, and the JSON Schema of its arguments: an object
                with one required string, `text`, and no other field
    prepare     checks the raw arguments strictly and does nothing else. Raises
                InvalidArgumentsError for text that is not JSON, not an object, has a missing, an
                unknown or a duplicate field (see object_pairs_hook of json.loads) or no string.
                The display is {"text": the text}
    execute     runs what was prepared: status "completed", the number of words as output ("6").
                Words are what str.split() makes of the text

    You need InvalidArgumentsError of `curriculum.core.errors`; the other names are imported above.

    Accepted when, behind an AgentRunner, invalid arguments get a result but reach neither the
    approver nor execute, and each call that is allowed gets its own count.
    """

    @property
    def definition(self) -> ToolDefinition:
        raise NotImplementedError

    def prepare(self, arguments: str) -> Prepared:
        raise NotImplementedError

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        raise NotImplementedError


# endregion


# region: result_status
RESULT_STATUS: Mapping[str, Mapping[str, object]] | None = None
"""C. What becomes of a call: replace None by a dict with a row for each of these situations.

    "allowed and it works"            the approver allows it, the tool succeeds
    "allowed and it fails"            the approver allows it, the tool reports a failure
    "denied"                          the approver says no
    "arguments break the definition"  prepare refuses them
    "no tool has that name"           the model made the name up
    "no model request is left"        the answer with the call was the last that max_turns allows
    "more calls than allowed"         the batch does not fit into max_tool_calls
    "the tool has a bug"              allowed, but execute raises
    "the approver has a bug"          decide raises
    "cancelled before its turn"       second call of an answer; the user cancels during the first

A row is a dict with these columns:

    "status"          status of its tool.result
    "asked"           is the approver asked about this call: True or False
    "starts"          is there a tool.start: True or False
    "model reads it"  does a later request of this run show the result: True or False

Accepted when every prediction is what the trace of a real run shows.
"""
# endregion


# region: read_file
class ReadFile:
    """D. A bounded tool: reads a text file below `directory`, at most `limit_bytes` of it.

    definition  name "read_file", one required string `path`, no other field
    prepare     refuses (InvalidArgumentsError) what no strict tool accepts, and a path that is
                empty, absolute, holds a NUL or has a part "..". It opens nothing: the file is read
                when the call is executed. The display names path, directory and limit
    execute     completed, with the beginning of the file: at most limit_bytes bytes, never half a
                character, `truncated` only if there is more, U+FFFD for what is not UTF-8, line
                ends unchanged. Failed, with the reason as output, if there is no such file, if it
                is no regular file (a folder; a named pipe, for which it must not wait), or if it
                lies outside the directory, by whatever links, also ones made after prepare

    You need InvalidArgumentsError of `curriculum.core.errors`, as for B.

    Accepted when it passes `curriculum.grading.tool_conformance`, as Bash does, and these bounds.
    """

    def __init__(self, directory: str, limit_bytes: int) -> None:
        raise NotImplementedError

    @property
    def definition(self) -> ToolDefinition:
        raise NotImplementedError

    def prepare(self, arguments: str) -> Prepared:
        raise NotImplementedError

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        raise NotImplementedError


# endregion
