"""The codes of the contract: what each one means, what mends it, and which verdict follows.

The codes are stable: other programs match on them. Wording may change, a code never changes its
meaning. `traces/README.md` shows this table; a test keeps the two the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Verdict(IntEnum):
    """What a file is; the value is the exit code."""

    COMPLETE = 0
    INVALID = 1
    OPEN = 2
    TORN = 3


# With several files the first of these that occurred is the exit code of the whole.
WORST_FIRST = (Verdict.INVALID, Verdict.TORN, Verdict.OPEN, Verdict.COMPLETE)


@dataclass(frozen=True)
class Code:
    """One rule: what it demands, and how to mend a file that breaks it."""

    meaning: str
    fix: str


CODES: dict[str, Code] = {
    "F01": Code("UTF-8 without a BOM", "write the file as UTF-8 without a byte order mark"),
    "F02": Code("one JSON object a line, lines end with LF", "write one object a line, then LF"),
    "F03": Code(
        "strict JSON: no duplicate keys, NaN, Infinity, integers beyond 2^53-1, lone surrogates",
        "write the line with a strict JSON writer",
    ),
    "F04": Code(
        "the file ends with LF, else its tail is torn",
        "cut the file after its last LF, or let the writer finish the line",
    ),
    "F05": Code(
        "a line is at most 256 KiB with its LF, nesting at most 64 deep",
        "shorten the longest text of the event, or nest less",
    ),
    "E01": Code("the event has the shape of its type", "see schemas/trace-0.1/event.schema.json"),
    "E02": Code(
        "the type is one of the contract, or x.<vendor>.<name>",
        "use a known type, or name your own x.<vendor>.<name>",
    ),
    "S01": Code("sequence equals the line's index, from 0", "number the events in file order"),
    "I01": Code("one trace_id and one trace_version a file", "keep each trace in its own file"),
    "I02": Code("event_id is unique in the file", "give each event an id of its own"),
    "C01": Code(
        "parent_id names an earlier event; null only at the first",
        "name the event that caused this one",
    ),
    "N01": Code("elapsed_us never falls", "take it from a monotonic clock"),
    "L01": Code("session.start comes first, once", "begin the file with its one session.start"),
    "L02": Code("one session.stop", "write session.stop once, at the end"),
    "L03": Code("nothing follows session.stop", "end the file with session.stop"),
    "L04": Code("event_count counts every event", "count all events, session.stop included"),
    "M01": Code(
        "a model.response answers an earlier model.request",
        "record the request before its response",
    ),
    "M02": Code(
        "each model.request has its own id and one response",
        "record one response for each request, also when it failed",
    ),
    "M03": Code(
        "attempts count up from 1, each retry_of the failed one before",
        "number attempts from 1; name the failed request in retry_of and retry.wait",
    ),
    "M04": Code(
        "roles and message_count agree with the messages before",
        "list the role of every message that was sent, in order",
    ),
    "D01": Code("index is gap-free from 0", "number the pieces from 0 without a gap"),
    "D02": Code(
        "a model.delta stands between its request and the response",
        "write deltas before the response that they belong to",
    ),
    "D03": Code(
        "complete: the joined deltas are the content",
        "record the content exactly as it was shown",
    ),
    "D04": Code(
        "not complete: the joined deltas begin the content",
        "record what was shown as the content of the failed response",
    ),
    "D05": Code("chunks.count is the number of deltas", "count the deltas of this request"),
    "T01": Code("a result, start or output has its tool.call", "record the tool.call first"),
    "T02": Code("call_id is unique in a turn", "refuse a response that uses a call_id again"),
    "T03": Code("a call has one result at most", "record the first result only"),
    "T04": Code(
        "in a finished turn each call has one result",
        "close each open call: unknown if it had started, else not_executed",
    ),
    "T05": Code(
        "denied, not_executed, invalid_arguments, unknown_tool: no start",
        "record no tool.start for a call that does not run; a started one ends as unknown",
    ),
    "T06": Code(
        "unknown: the call had started, and the result is synthesized",
        "close a call that never started as not_executed; mark the provenance synthesized",
    ),
    "T07": Code(
        "completed, failed: one start, before output and result",
        "record tool.start before acting, once",
    ),
    "T08": Code(
        "tool.call events are the calls that the response proposed",
        "copy call_id, name and arguments from the response",
    ),
    "T09": Code(
        "the next model.request comes after all results",
        "give each call its result before asking the model again",
    ),
    "A01": Code(
        "an approval is about an open call that has not started",
        "ask between the tool.call and its start; repeat approval_id and call_id",
    ),
    "A02": Code(
        "each approval.request has one decision",
        "record one decision, also when nobody answered (cancelled, expired)",
    ),
    "A03": Code(
        "no tool.start after an approval.request unless it was allowed",
        "start a call only after the decision allow",
    ),
    "A05": Code(
        "deny means denied (or not_executed when the turn ended first)",
        "give a call that was refused the result denied",
    ),
    "A06": Code(
        "the decider is a user or a policy, never the model",
        "name the user or the policy that decided as the actor",
    ),
    "R01": Code(
        "redaction.items are pointers to texts that hold a mask",
        "point at each masked text of this event",
    ),
    "R02": Code("an event that is clean holds no mask", "set the status to redacted, list items"),
    "R05": Code(
        "planted secrets are nowhere, in no spelling, nor across pieces",
        "redact before the event is written, in every sink",
    ),
}
