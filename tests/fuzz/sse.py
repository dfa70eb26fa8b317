"""Target `sse`: however a stream is cut, the same events, and those are the standard's.

The reader is held against the plainest reading of the WHATWG rules, over the whole stream at once;
and with small bounds it stops at the same streams however they are cut.
"""

from __future__ import annotations

import re
from itertools import pairwise

from curriculum.core.errors import ProtocolError
from curriculum.providers.sse import ServerSentEvent, SseLimits, SseReader
from tests.fuzz.choices import Choices

PIECES = (
    *(b"data:", b"data", b"data: ", b"event: ", b"event", b"id: ", b"id", b"retry: ", b": "),
    *(b"\n", b"\n\n", b"\r", b"\r\n", b"\r\n\r\n", b"\xef\xbb\xbf", b"\xef", b"\xbb", b"\xff"),
    *(b"\0", b"12", b"0", b"x", b"{}", b" ", "\u2028\u0085é".encode(), b"9" * 16, b"y" * 30),
)
SMALL = SseLimits(line=24, event=40, response=200)
Read = tuple[list[ServerSentEvent], int | None] | str


def stream_of(choices: Choices) -> bytes:
    """A stream: bytes as they are, or pieces of what streams are made of."""
    if choices.number(4) == 0:
        return choices.rest()
    parts = []
    while choices.left > 0:
        parts.append(choices.pick(PIECES[:2] if choices.one_in(3) else PIECES))
    return b"".join(parts)


def read(chunks: list[bytes], limits: SseLimits | None = None) -> Read:
    """The events and the reconnection time, or what was said instead."""
    reader = SseReader(limits)
    events: list[ServerSentEvent] = []
    try:
        for chunk in chunks:
            events += reader.feed(chunk)
    except ProtocolError as fault:
        return str(fault)
    return events, reader.retry_ms


def standard(stream: bytes) -> Read:
    """The rules, one after the other (section 9.2.6)."""
    events, retry = [], None
    name, data, last_id = b"", b"", b""
    lines = re.split(rb"\r\n|\n|\r", stream.removeprefix(b"\xef\xbb\xbf"))
    for line in lines[:-1]:
        field, _, content = line.partition(b":")
        content = content.removeprefix(b" ")
        if not line:
            if data:
                texts = (name or b"message", data[:-1], last_id)
                events.append(ServerSentEvent(*(t.decode("utf-8", "replace") for t in texts)))
            name, data = b"", b""
        elif field == b"event":
            name = content
        elif field == b"data":
            data += content + b"\n"
        elif field == b"id" and b"\0" not in content:
            last_id = content
        elif field == b"retry" and re.fullmatch(rb"[0-9]{1,15}", content):
            retry = int(content)
    return events, retry


def check(data: bytes) -> str:
    """Hold the invariants for one input; returns what became of it."""
    choices = Choices(data)
    cuts = [choices.number(256) for _ in range(choices.number(6))]
    stream = stream_of(choices)
    whole = read([stream])
    assert whole == standard(stream)
    assert whole == read([stream[at : at + 1] for at in range(len(stream))])
    places = sorted({0, len(stream), *(cut % (len(stream) + 1) for cut in cuts)})
    chunks = [stream[a:b] for a, b in pairwise(places)]
    assert whole == read([b"", *chunks, b""])
    bounded = read([stream], SMALL)
    by_byte = read([stream[at : at + 1] for at in range(len(stream))], SMALL)
    assert isinstance(bounded, str) == isinstance(by_byte, str), (bounded, by_byte)
    assert isinstance(bounded, str) or bounded == whole == by_byte
    return "events" if whole[0] else "bounded" if isinstance(bounded, str) else "nothing"
