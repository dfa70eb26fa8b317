"""What a provider sends is bounded in more than time: heads, encodings, calls, items, a CONNECT.

No server here ends its answer by itself: what is not bounded waits for the silence of the endpoint,
and is told as another fault.
"""

from __future__ import annotations

import gzip
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from curriculum.core.errors import ModelError, ProtocolError, RunError, TransientModelError
from curriculum.core.messages import Message
from curriculum.core.model import MAX_CALLS
from curriculum.providers.endpoint import Endpoint
from curriculum.providers.opening import MOST_HEAD_BYTES
from curriculum.providers.responses import ResponsesModel
from curriculum.providers.wire import MOST_ITEMS, MOST_NODES, MOST_PARSED
from tests.providers.conftest import Serve
from tests.providers.stalled import endless_server, stalled_server
from tests.providers.wires import WIRES, endpoint_of, fault_of

Event = dict[str, Any]
GO = [Message("user", "go")]
LOOKS_SECONDS = 0.05


@pytest.mark.parametrize(
    "piece", [b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 \r\nLink: </x>\r\n\r\n"]
)
def test_an_endless_run_of_answers_before_the_answer_is_stopped(piece: bytes) -> None:
    with endless_server(piece * 100) as port:
        fault = fault_of(ResponsesModel(Endpoint(f"http://127.0.0.1:{port}/v1", "test-key"), "m"))
    assert type(fault) is ModelError
    assert not fault.retryable
    assert f"more than {MOST_HEAD_BYTES} bytes before its answer began" in fault.message


def test_a_few_answers_before_the_answer_are_passed_over() -> None:
    early = b"HTTP/1.1 100 Continue\r\n\r\n" * 50
    head = b"HTTP/1.1 429 Slow down\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"
    with stalled_server(early + head, reads=True) as port:
        fault = fault_of(ResponsesModel(Endpoint(f"http://127.0.0.1:{port}/v1", "test-key"), "m"))
    assert fault.payload()["retryable"] is True


def test_the_bound_of_a_head_is_not_one_of_the_answer(serve: Serve) -> None:
    text = "x" * (2 * MOST_HEAD_BYTES)
    server = serve({"answer": {"pieces": [text]}})
    assert ResponsesModel(endpoint_of(server), "m").respond(GO, ()).content == text


# region: proxy
@pytest.mark.parametrize("piece", [b"", b"HTTP/1.1 100 Continue\r\n\r\n"])
def test_a_proxy_that_does_not_answer_connect_has_only_the_time_to_connect(
    monkeypatch: pytest.MonkeyPatch, piece: bytes
) -> None:
    """Silent or not: each piece comes in time."""
    with endless_server(piece, LOOKS_SECONDS) as port:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
        where = Endpoint("https://provider.invalid/v1", "test-key", connect_seconds=0.4)
        fault = fault_of(ResponsesModel(where, "m"))
    assert isinstance(fault, TransientModelError)
    assert "no connection to provider.invalid within 0.4 s" in fault.message


# endregion


def packed(steps: bytes, encoding: str) -> Event:
    data = gzip.compress(steps) if encoding == "gzip" else zlib.compress(steps)
    return {
        "headers": {"content-encoding": encoding},
        "send": [{"base64": b64encode(data).decode()}, {"hold": True}],
    }


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_an_answer_in_an_encoding_that_was_not_asked_for_is_not_unpacked(
    serve: Serve, encoding: str
) -> None:
    """A few kilobytes of it could be gigabytes of answer."""
    server = serve(packed(b": padding\n" * 100_000, encoding))
    fault = fault_of(ResponsesModel(endpoint_of(server), "m"))
    assert isinstance(fault, ProtocolError)
    assert f"the encoding '{encoding}', though only identity was asked for" in fault.message


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "identity, gzip", "x\x1b[31m"])
def test_no_other_encoding_is_taken_for_text(serve: Serve, encoding: str) -> None:
    steps = [{"raw": ":\n"}, {"hold": True}]
    server = serve({"headers": {"content-encoding": encoding}, "send": steps})
    fault = fault_of(ResponsesModel(endpoint_of(server), "m"))
    assert "only identity was asked for" in fault.message
    assert fault.message.isprintable()


@pytest.mark.parametrize("encoding", ["identity", "", " Identity "])
def test_identity_by_its_name_is_what_was_asked_for(serve: Serve, encoding: str) -> None:
    server = serve({"headers": {"content-encoding": encoding}, "answer": {"text": "ok"}})
    assert ResponsesModel(endpoint_of(server), "m").respond(GO, ()).content == "ok"


def test_an_error_in_such_an_encoding_counts_by_its_status(serve: Serve) -> None:
    page = {**packed(b"x" * 10_000_000, "gzip"), "status": 429}
    fault = fault_of(ResponsesModel(endpoint_of(serve(page)), "m"))
    assert fault.payload()["retryable"] is True
    assert "it gave no reason" in fault.message


# region: items
def chat_calls(count: int) -> Iterator[Event]:
    for index in range(count):
        call = {"index": index, "id": f"c{index}", "function": {"name": "bash", "arguments": ""}}
        yield {"choices": [{"delta": {"tool_calls": [call]}}]}


def message_calls(count: int) -> Iterator[Event]:
    for index in range(count):
        block = {"type": "tool_use", "id": f"c{index}", "name": "bash", "input": {}}
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield {"type": "content_block_stop", "index": index}


def response_calls(count: int) -> Iterator[Event]:
    for index in range(count):
        call = {"type": "function_call", "call_id": f"c{index}", "name": "bash", "arguments": ""}
        yield {"type": "response.output_item.done", "output_index": index, "item": call}


CALLS = {"responses": response_calls, "chat": chat_calls, "messages": message_calls}


def fault_after(serve: Serve, protocol: str, events: Iterator[Event]) -> RunError:
    """What ends an answer that has said so much, and goes on."""
    server = serve({"send": [*({"event": event} for event in events), {"hold": True}]})
    return fault_of(WIRES[protocol].model(endpoint_of(server)))


@pytest.mark.parametrize("protocol", CALLS)
def test_the_first_call_too_many_ends_the_answer(serve: Serve, protocol: str) -> None:
    """Whoever waits for the end of 64 MB of them holds them all."""
    fault = fault_after(serve, protocol, CALLS[protocol](MAX_CALLS + 1))
    assert isinstance(fault, ProtocolError)
    assert f"more than {MAX_CALLS} calls" in fault.message


def many_items(one: Callable[[int], Event], count: int = MOST_ITEMS + 1) -> Iterator[Event]:
    return map(one, range(count))


ITEMS: dict[str, Callable[[int], Event]] = {
    "responses": lambda n: {
        "type": "response.output_item.done",
        "output_index": n,
        "item": {"type": "dream"},
    },
    "messages": lambda n: {
        "type": "content_block_start",
        "index": n,
        "content_block": {"type": "dream"},
    },
}


@pytest.mark.parametrize("protocol", ITEMS)
def test_items_that_are_no_calls_are_bounded_as_well(serve: Serve, protocol: str) -> None:
    fault = fault_after(serve, protocol, many_items(ITEMS[protocol]))
    assert isinstance(fault, ProtocolError)
    assert f"more than {MOST_ITEMS} items" in fault.message


WIDE = [{}] * MOST_NODES  # three bytes each on the wire, 72 in memory
HEAVY: dict[str, Event] = {
    "responses": {"type": "response.output_item.done", "item": {"type": "dream", "x": WIDE}},
    "chat": {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "c", "x": WIDE}]}}]},
    "messages": {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "dream", "x": WIDE},
    },
}


@pytest.mark.parametrize("protocol", HEAVY)
def test_what_is_kept_of_an_answer_is_bounded_by_its_values(serve: Serve, protocol: str) -> None:
    fault = fault_after(serve, protocol, iter([HEAVY[protocol]]))
    assert isinstance(fault, ProtocolError)
    assert f"more than {MOST_NODES} values" in fault.message


@pytest.mark.parametrize("value", ["{}", "[]", "1", "[" * 50 + "]" * 50])
def test_an_event_with_values_by_the_million_is_not_parsed(serve: Serve, value: str) -> None:
    """Eight megabytes of a line would be hundreds in memory."""
    values = ",".join([value] * (MOST_PARSED // value.count("[") if "[" in value else MOST_PARSED))
    server = serve({"send": [{"raw": f'data: {{"x":[{values}]}}\n\n'}, {"hold": True}]})
    fault = fault_of(WIRES["chat"].model(endpoint_of(server)))
    assert isinstance(fault, ProtocolError)
    assert f"it may hold more than {MOST_PARSED} values" in fault.message


def test_a_long_text_is_no_large_number_of_values(serve: Serve) -> None:
    text = "a, {b}" * 200_000
    server = serve({"answer": {"pieces": [text]}})
    assert ResponsesModel(endpoint_of(server), "m").respond(GO, ()).content == text


def test_items_that_only_the_completed_response_lists_are_bounded(serve: Serve) -> None:
    items = [{"type": "dream"}] * (MOST_ITEMS + 1)
    done = {"type": "response.completed", "response": {"output": items}}
    assert f"more than {MOST_ITEMS} items" in fault_after(serve, "responses", iter([done])).message


# endregion
