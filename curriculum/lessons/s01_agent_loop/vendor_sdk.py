"""A made-up vendor SDK, for exercise D: its own types, its own errors, and no network behind it.

It stands for whatever SDK you know. Nothing in it was written with our harness in mind: that is
what the adapter is for. The service refuses requests that do not add up, as real ones do.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass
class TextPart:
    """Words of the model."""

    text: str


@dataclass
class FunctionPart:
    """The model wants a function to be called. `input` is JSON text, as the model wrote it."""

    ref: str
    function: str
    input: str


@dataclass
class SealedPart:
    """Something of the vendor's own. The next request must bring it back unchanged."""

    blob: str


@dataclass
class SoundPart:
    """A kind of content that came with a later version of the service."""

    codec: str
    samples: bytes


Part = TextPart | FunctionPart | SealedPart | SoundPart


@dataclass
class UserItem:
    """What the user said."""

    text: str


@dataclass
class AssistantItem:
    """An earlier answer, with all its parts in their order."""

    parts: list[Part]


@dataclass
class ReturnItem:
    """What came of the function call `ref`."""

    ref: str
    output: str


Item = UserItem | AssistantItem | ReturnItem


@dataclass
class Function:
    """A function that the model may ask for. `schema` is the JSON Schema of its input."""

    name: str
    purpose: str
    schema: dict[str, object]


@dataclass
class Request:
    """All that the service gets to know: it remembers nothing between two requests."""

    items: list[Item]
    instructions: str = ""
    functions: list[Function] = field(default_factory=list)


@dataclass
class Reply:
    """One answer. `finish` says why it ends here.

    "end": it is whole. "function": it waits for the functions it calls. "length": it had become too
    long and was cut off, perhaps in the middle of a word or of a function's input.
    """

    parts: list[Part]
    finish: str = "end"
    tokens_in: int = 0
    tokens_out: int = 0


class VendorError(Exception):
    """Whatever goes wrong in this SDK."""


class ConnectionLost(VendorError):
    """The line broke. The same request may succeed later."""


class Overloaded(VendorError):
    """The service is busy. The same request may succeed later."""


class BadRequest(VendorError):
    """The service will never accept this request."""


class InputTooLong(BadRequest):
    """The request does not fit in the model's context window."""


class Client:
    """Answers with the prepared replies, in order, and remembers in `sent` what it was asked."""

    def __init__(self, replies: Iterable[Reply | VendorError]) -> None:
        self._replies = iter(replies)
        self.sent: list[Request] = []

    def create(self, request: Request) -> Reply:
        """Send one request. Raises VendorError."""
        self.sent.append(copy.deepcopy(request))
        _refuse_what_does_not_add_up(request)
        reply = next(self._replies, None)
        if reply is None:
            raise BadRequest("the client has no reply left")
        if isinstance(reply, VendorError):
            raise reply
        return copy.deepcopy(reply)


def _refuse_what_does_not_add_up(request: Request) -> None:
    open_refs: set[str] = set()
    for item in request.items:
        if isinstance(item, ReturnItem):
            if item.ref not in open_refs:
                raise BadRequest(f"no open function call has the ref {item.ref!r}")
            open_refs.discard(item.ref)
            continue
        if open_refs:
            raise BadRequest(f"function calls without a return: {sorted(open_refs)}")
        if isinstance(item, AssistantItem):
            open_refs = {part.ref for part in item.parts if isinstance(part, FunctionPart)}
    if open_refs:
        raise BadRequest(f"function calls without a return: {sorted(open_refs)}")
