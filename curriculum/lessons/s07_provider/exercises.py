"""Exercises of s07. Edit this file only; grade it with

    python3 -m curriculum grade s07

An exercise that is still as you found it is skipped. `solutions.py` holds one way to do each. C is
graded by the real adapter over HTTP, so it needs httpx; the others run on a bare Python.
"""

from __future__ import annotations

from collections.abc import Mapping

from curriculum.core.errors import ModelError


# region: outcome_of
def outcome_of(recording: bytes) -> tuple[str, str, list[str]]:
    """A. Read the bytes of a recorded answer: what was shown, how did it end, what may run?

    Return (shown, ending, calls):

        shown   the `delta` of every response.output_text.delta event, joined
        ending  "completed", "failed", "incomplete" or "error": the event that ended the answer,
                without its "response."; "cut" if there was none
        calls   the names of the function calls that may run, in order: the items of type
                "function_call" that response.output_item.done events brought, if the ending is
                "completed"; otherwise none

    Nothing that comes after the ending counts. What an event is, its JSON says in the field "type".
    `read_events([recording])` of `curriculum.providers.sse` gives the events, with their `.data`.
    Some events are of no interest to you; their data is JSON all the same.

    Accepted for recordings with every ending, cut after any byte.
    """
    raise NotImplementedError


# endregion


# region: classify
def classify(status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
    """B. Make a typed error of an HTTP answer that is no stream. The first rule that fits decides:

        the code is "context_length_exceeded"   ContextOverflowError
        the code is "insufficient_quota"        RateLimitError, not retryable
        status 429                              RateLimitError, retryable
        status 401 or 403                       AuthenticationError
        status 408, 409, 425, or 500 and above  TransientModelError
        any other                               ModelError

    The body should be JSON, {"error": {"code": "...", "message": "..."}}, but the error may come
    from a proxy on the way: an HTML page, nothing at all, JSON of any other shape.

    For a 429 and for the transient ones set `retry_after_seconds` to the wait of the header
    `retry-after`: a number of seconds, or an HTTP date, which counts from the header `date` (never
    below 0). None if it is missing or makes no sense: a negative number, "nan", "soon". If it is
    more than 60 s nobody should wait: a 429 is then a RateLimitError that is not retryable, the
    others a plain ModelError; `retry_after_seconds` stays.

    The message is one line of at most 500 characters: it holds the status and the provider's
    message (or its beginning), and no character that a terminal would obey. Names of headers are
    lower case. You need `escape` or `quote` of `curriculum.core.visible`, and
    `email.utils.parsedate_to_datetime` of the standard library.

    Accepted when a real server's answers of every kind become the right errors.
    """
    raise NotImplementedError


# endregion


# region: stream_endings
STREAM_ENDINGS: Mapping[str, Mapping[str, object]] | None = None
"""C. What becomes of a turn when the stream ends in one of these ways: replace None by a dict with
a row for each. Every stream shows the text "Let me look." first and then brings a finished item
with a call of a granted tool (response.output_item.done), unless the situation says otherwise.
Nothing is wrapped round the adapter, and if the model is asked again, it answers "Done.".

    "completed"                    response.completed
    "completed, no blank line"     the same, but the connection ends before the blank line
    "completed, items only there"  no item events: only the completed response lists text and call
    "failed, server_error"         response.failed
    "failed, context too long"     response.failed, its code is context_length_exceeded
    "incomplete"                   response.incomplete, reason max_output_tokens
    "error event"                  an event `error`, its code is rate_limit_exceeded
    "clean end"                    the HTTP answer ends, properly, without any of these
    "connection reset"             it breaks
    "[DONE]"                       the data of an event is [DONE], as other protocols end
    "no call_id"                   response.completed, but the call has no call_id
    "one call_id twice"            response.completed, but two calls share their call_id
    "other text"                   response.completed, but its text is "Let me see."
    "unknown event"                an event of an unknown type in the middle; response.completed
    "completed, then error"        response.completed, and then an event `error`

A row is a dict with these columns:

    "response"   status of the first model.response: "completed" or "failed"
    "ran"        how often the tool ran
    "error"      name of the class of `RunResult.error`, None if there is none
    "retryable"  its `retryable`, None if there is no error
    "stop"       the stop_reason

Accepted when every prediction is what a real run of the adapter shows.
"""
# endregion


# region: event_reader
class EventReader:
    """D. Server-sent events out of bytes, by the rules of the HTML standard, section 9.2.6.

    feed   takes the next bytes of the stream, cut anywhere, and returns the events that they
           complete, as a list of (name, data): at once, with the last byte of the blank line that
           closes an event. An event without a name is called "message"
    limit  is the most bytes that a line (without its end) may have, and the most bytes of an
           event's data (its lines joined by LF). What is longer raises ProtocolError of
           `curriculum.core.errors`, as soon as it is known to be too long: nothing may grow without
           end, neither a line without an end nor an event without a blank line

    Lines end at LF, CR or CRLF, and nowhere else. One byte order mark at the very beginning is
    left out. Fields are `event` and `data`; of the value one space at its beginning is left out.
    All else (`id`, `retry`, comments, unknown fields) is read over. A blank line without data
    before it gives no event, and takes the name with it. Bytes that are no UTF-8 become U+FFFD.

    Write it yourself, without `curriculum.providers.sse`. Put it through the kit as often as you
    like: `check_reader(EventReader)` of `curriculum.grading.sse_conformance` lists what is wrong.

    Accepted when the kit finds nothing.
    """

    def __init__(self, limit: int) -> None:
        raise NotImplementedError

    def feed(self, data: bytes) -> list[tuple[str, str]]:
        raise NotImplementedError


# endregion
