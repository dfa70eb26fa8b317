"""The event reader gives what the HTML standard says, however the bytes are cut."""

from __future__ import annotations

import json

import httpx_sse
import pytest
from httpx_sse._decoders import SSEDecoder, SSELineDecoder
from hypothesis import given
from hypothesis import strategies as st

from curriculum.core.errors import ProtocolError
from curriculum.providers.sse import ServerSentEvent, SseLimits, SseReader, read_events
from tests.providers.sse_corpus import CORPUS, Pairs


def pairs(*chunks: bytes) -> Pairs:
    return [(event.name, event.data) for event in read_events(chunks)]


def bytewise(data: bytes) -> list[bytes]:
    return [data[at : at + 1] for at in range(len(data))]


@pytest.mark.parametrize("name", CORPUS)
def test_stream_means_what_the_standard_says(name: str) -> None:
    data, expected = CORPUS[name]
    assert pairs(data) == expected


@pytest.mark.parametrize("name", CORPUS)
def test_g14_one_byte_at_a_time_is_the_same(name: str) -> None:
    data, expected = CORPUS[name]
    assert pairs(*bytewise(data)) == expected
    for at in range(len(data)):
        assert pairs(data[:at], data[at:]) == expected
        assert pairs(data[:at], b"", data[at:]) == expected


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_g11_all_line_ends_give_the_same_events(end: bytes) -> None:
    data = end.join([b"event: x", b"data: a", b"data: b", b"", b"data: c", b"", b""])
    for chunks in ([data], bytewise(data)):
        assert pairs(*chunks) == [("x", "a\nb"), ("message", "c")]


def test_g13_other_separators_are_data() -> None:
    text = json.dumps({"delta": "a\u2028b\u0085c\x0cd"}, ensure_ascii=False)
    assert "\u2028" in text
    assert "\u0085" in text
    (event,) = read_events([f"data: {text}\n\n".encode()])
    assert json.loads(event.data)["delta"] == "a\u2028b\u0085c\x0cd"


def test_an_event_is_given_with_the_byte_that_ends_it() -> None:
    for end in (b"\n\n", b"\r\r", b"\n\r", b"\r\n\n", b"\r\n\r"):
        reader = SseReader()
        assert reader.feed(b"data: a" + end[:-1]) == []
        assert reader.feed(end[-1:]) == [ServerSentEvent("message", "a")]
        assert reader.feed(b"\n" if end.endswith(b"\r") else b"") == []


def test_id_is_kept_until_another_comes_and_retry_is_read() -> None:
    reader = SseReader()
    events = reader.feed(
        b"id: 1\nretry: 250\ndata: a\n\ndata: b\n\nid: 2\0\nretry: 2s\nretry: -1\ndata: c\n\n"
        b"id\ndata: d\n\nretry: 9999999999999999999\n"
    )
    assert [(event.data, event.last_id) for event in events] == [
        ("a", "1"),
        ("b", "1"),
        ("c", "1"),
        ("d", ""),
    ]
    assert reader.retry_ms == 250


LIMITS = SseLimits(line=50, event=100, response=1000)


@pytest.mark.parametrize(
    ("chunk", "what"),
    [
        (b"data: " + b"x" * 50 + b"\n", "a line"),
        (b": " + b"x" * 50, "a line"),
        (b"data: xxxxxxxxxxxxxx\n", "an event"),
        (b"data\n", "an event"),
        (b"data: x\n\n", "the response"),
        (b":\n", "the response"),
    ],
)
@pytest.mark.parametrize("whole", [True, False])
def test_nothing_grows_without_end(chunk: bytes, what: str, whole: bool) -> None:
    reader = SseReader(LIMITS)

    def feed_for_ever() -> None:
        for _ in range(2000):
            for part in [chunk] if whole else bytewise(chunk):
                reader.feed(part)

    with pytest.raises(ProtocolError, match=f"{what} of the event stream is larger than"):
        feed_for_ever()


def test_bounds_are_exact() -> None:
    assert len(SseReader(LIMITS).feed(b"data: " + b"x" * 44 + b"\n\n")) == 1
    assert len(SseReader(LIMITS).feed(b"data: xxxxxxxxxxxxxxxxxxx\n" * 5 + b"\n")) == 1
    reader = SseReader(LIMITS)
    assert sum(len(reader.feed(b"data: xx\n\n")) for _ in range(100)) == 100
    with pytest.raises(ProtocolError):
        reader.feed(b"\n")


def httpx_sse_pairs(data: bytes) -> Pairs:
    """What httpx-sse makes of the same bytes (it decodes text; httpx decodes UTF-8 like this)."""
    lines, decoder = SSELineDecoder(), SSEDecoder()
    split = lines.decode(data.decode("utf-8", "replace")) + lines.flush() if data else []
    events = [event for line in split if (event := decoder.decode(line)) is not None]
    return [(event.event or "message", event.data) for event in events]


def test_httpx_sse_differs_from_the_standard_which_is_why_the_reader_is_ours() -> None:
    """If this fails, httpx-sse has changed: compare again, and use it if it passes the corpus."""
    assert hasattr(httpx_sse, "EventSource")
    wrong = {name for name, (data, right) in CORPUS.items() if httpx_sse_pairs(data) != right}
    assert wrong == {
        "name alone is no event",
        "id alone is no event",
        "retry alone is no event",
        "an id is no event later",
        "byte order mark",
    }


BITS = [b"data", b"event", b"id", b":", b" ", b"\n", b"\r", b"\r\n", b"\xef\xbb\xbf", b"x"]
BITS += [b"\xe2\x80\xa8", b"\xf0\x9f\x98\x80", b"\xff", b"\0", b"data: {}\n\n"]


@given(st.lists(st.sampled_from(BITS)), st.data())
def test_any_cut_of_any_stream_gives_the_same_events(
    parts: list[bytes], draw: st.DataObject
) -> None:
    data = b"".join(parts)
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(data)), max_size=12)))
    chunks = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    whole = list(read_events([data]))
    assert list(read_events(chunks)) == whole
    assert list(read_events(bytewise(data))) == whole


@given(st.lists(st.binary(max_size=40)))
def test_arbitrary_bytes_give_events_or_a_protocol_error(chunks: list[bytes]) -> None:
    try:
        events = list(read_events(chunks, LIMITS))
    except ProtocolError:
        return
    assert all(event.name for event in events)
