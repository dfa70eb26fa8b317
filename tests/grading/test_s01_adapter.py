"""The grader of s01 D is graded: adapters with one habit of beginners each are told why."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace

import pytest

from curriculum.core.errors import ModelError, TransientModelError
from curriculum.core.messages import Message, ModelTurn, ToolCall
from curriculum.core.model import Model
from curriculum.core.values import as_data, replace
from curriculum.grading.model_conformance import check_model
from curriculum.grading.s01 import (
    grade_adapter,
)
from curriculum.lessons.s01_agent_loop import solutions
from curriculum.lessons.s01_agent_loop import vendor_sdk as sdk
from curriculum.tests.under_test import ScriptedUnderTest, VendorUnderTest


class Careless(solutions.VendorModel):
    """Lets a test change what goes out and what comes back."""

    def __init__(
        self,
        client: sdk.Client,
        before: Callable[[list[Message]], Sequence[Message]] = lambda messages: messages,
        after: Callable[[ModelTurn], ModelTurn] = lambda turn: turn,
    ) -> None:
        super().__init__(client)
        self._before, self._after = before, after

    def respond(self, messages: Sequence[Message], tools: Sequence[dict[str, object]]) -> ModelTurn:
        return self._after(super().respond(self._before(list(messages)), tools))


def turned(**change: Callable[[ModelTurn], object]) -> Callable[[sdk.Client], Model]:
    def after(turn: ModelTurn) -> ModelTurn:
        fields = {**as_data(turn), **{name: make(turn) for name, make in change.items()}}
        return ModelTurn(**fields)

    return lambda client: Careless(client, after=after)


def sent(change: Callable[[Message], Message | None]) -> Callable[[sdk.Client], Model]:
    def before(messages: list[Message]) -> list[Message]:
        return [new for message in messages if (new := change(message))]

    return lambda client: Careless(client, before=before)


def tidy(call: ToolCall) -> ToolCall:
    try:
        return ToolCall(call.call_id, call.name, json.dumps(json.loads(call.arguments)))
    except ValueError:
        return ToolCall(call.call_id, call.name, "{}")


def rename(call: ToolCall) -> ToolCall:
    return ToolCall(call.call_id, f"functions.{call.name}", call.arguments)


class OwnCall(ToolCall):
    """A call that is more than a call."""


def same_id(message: Message) -> Message:
    if message.role != "assistant" or not message.tool_calls:
        return message
    calls = tuple(ToolCall(f"{n}", c.name, c.arguments) for n, c in enumerate(message.tool_calls))
    return Message("assistant", message.content, calls, opaque=message.opaque)


class Swallows(solutions.VendorModel):
    def respond(self, messages: Sequence[Message], tools: Sequence[dict[str, object]]) -> ModelTurn:
        try:
            return super().respond(messages, tools)
        except ModelError as error:
            return ModelTurn(f"Sorry: {error}")


class AllTransient(solutions.VendorModel):
    def respond(self, messages: Sequence[Message], tools: Sequence[dict[str, object]]) -> ModelTurn:
        try:
            return super().respond(messages, tools)
        except ModelError as error:
            raise TransientModelError(str(error)) from error


class Remembers(solutions.VendorModel):
    """Keeps the conversation itself, as a chat client would."""

    def __init__(self, client: sdk.Client) -> None:
        super().__init__(client)
        self._history: list[Message] = []

    def respond(self, messages: Sequence[Message], tools: Sequence[dict[str, object]]) -> ModelTurn:
        self._history += messages
        return super().respond(self._history, tools)


class Consumes(solutions.VendorModel):
    """Takes the system prompt out of the list it was given."""

    def respond(self, messages: Sequence[Message], tools: Sequence[dict[str, object]]) -> ModelTurn:
        turn = super().respond(messages, tools)
        if isinstance(messages, list) and messages[0].role == "system":
            messages.pop(0)
        return turn


class Raw:
    """Calls the SDK and lets its replies and its errors through."""

    def __init__(self, client: sdk.Client) -> None:
        self._client = client

    def respond(self, messages: Sequence[Message], tools: Sequence[dict[str, object]]) -> ModelTurn:
        items: list[sdk.Item] = [sdk.UserItem(message.content) for message in messages]
        return self._client.create(sdk.Request(items))  # type: ignore[return-value]


class ShowsEverything(solutions.VendorModel):
    """Writes out whatever part it does not know."""

    def respond(self, messages: Sequence[Message], tools: Sequence[dict[str, object]]) -> ModelTurn:
        request = sdk.Request([solutions.to_item(m) for m in messages if m.role != "system"])
        parts = self._client.create(request).parts
        return ModelTurn("".join(getattr(part, "text", str(part)) for part in parts))


class Text(str):
    """Text of the vendor's, which knows more than it says."""

    __slots__ = ()


class Shows(solutions.VendorModel):
    """Streams something else than it answers."""

    def stream(
        self, messages: Sequence[Message], tools: Sequence[dict[str, object]]
    ) -> Iterator[str | ModelTurn]:
        yield "Thinking..."
        yield self.respond(messages, tools)


class Counts(solutions.VendorModel):
    """Numbers its answers, in what it wants to see again."""

    count = 0

    def respond(self, messages: Sequence[Message], tools: Sequence[dict[str, object]]) -> ModelTurn:
        self.count += 1
        turn = super().respond(messages, tools)
        return replace(turn, opaque=[*(turn.opaque or ()), str(self.count)])  # type: ignore[misc]


class HasDefaults(solutions.VendorModel):
    """Adds a prompt and a tool of its own where none is given."""

    def respond(self, messages: Sequence[Message], tools: Sequence[dict[str, object]]) -> ModelTurn:
        spare = {"name": "spare", "description": "spare", "parameters": {"type": "object"}}
        if "system" not in [message.role for message in messages]:
            messages = [Message("system", "You are helpful."), *messages]
        return super().respond(messages, tools or [spare])


class RaisesItsOwn(solutions.VendorModel):
    """Failures of the model are RuntimeErrors."""

    def respond(self, messages: Sequence[Message], tools: Sequence[dict[str, object]]) -> ModelTurn:
        try:
            return super().respond(messages, tools)
        except ModelError as error:
            raise RuntimeError(str(error)) from None


class TakesHalf(solutions.VendorModel):
    """Does not ask why the answer ended."""

    def respond(self, messages: Sequence[Message], tools: Sequence[dict[str, object]]) -> ModelTurn:
        client = self._client
        whole = SimpleNamespace(create=lambda request: _called_whole(client.create(request)))
        return type(self).__base__(whole).respond(messages, tools)  # type: ignore


def _called_whole(reply: sdk.Reply) -> sdk.Reply:
    reply.finish = "end"
    return reply


class TriesHalfAgain(solutions.VendorModel):
    """Takes a cut-off answer for a fault that passes."""

    def respond(self, messages: Sequence[Message], tools: Sequence[dict[str, object]]) -> ModelTurn:
        try:
            return super().respond(messages, tools)
        except ModelError as error:
            if "cut off" in str(error):
                raise TransientModelError(str(error)) from error
            raise


WRONG_ADAPTERS: dict[str, tuple[Callable[[sdk.Client], Model], list[str]]] = {
    "a cut-off answer taken": (
        TakesHalf,
        ["cut-off answer:", "half of it became"],
    ),
    "a cut-off answer tried again": (TriesHalfAgain, ["cut-off answer:", "it is retryable"]),
    "nothing returned": (
        lambda client: None,  # type: ignore[arg-type, return-value]
        [
            "fails 1 check\n",
            "with the method `respond(messages, tools)`",
            "None has none",
        ],
    ),
    "the factory raises": (lambda client: client.model, ["fails 1 check\n", "AttributeError"]),  # type: ignore[attr-defined]
    "arguments tidied": (
        turned(tool_calls=lambda turn: tuple(map(tidy, turn.tool_calls))),
        ["calls:", "exactly as the model wrote them"],
    ),
    "calls reversed": (
        turned(tool_calls=lambda turn: turn.tool_calls[::-1]),
        ["calls:", "the provider's call ids, in its order"],
    ),
    "only the first call": (
        turned(tool_calls=lambda turn: turn.tool_calls[:1]),
        ["calls:", "the provider's call ids, in its order"],
    ),
    "calls in a list": (
        turned(tool_calls=lambda turn: list(turn.tool_calls)),
        ["only our types:", "the calls in a tuple"],
    ),
    "text stripped": (
        turned(content=lambda turn: turn.content.strip()),
        ["text:", "character by character"],
    ),
    "hard-coded": (
        turned(content=lambda turn: "A loop."),
        ["text:", "empty text:", "behind AgentRunner:"],
    ),
    "a placeholder for empty text": (
        turned(content=lambda turn: turn.content or "(no text)"),
        ["empty text:"],
    ),
    "private items lost": (
        turned(opaque=lambda turn: None),
        ["private items:", "back in the next request, unchanged"],
    ),
    "SDK objects in opaque": (
        turned(opaque=lambda turn: [sdk.SealedPart(blob) for blob in turn.opaque or ()]),  # type: ignore[attr-defined]
        ["only our types:", "opaque to be plain JSON data"],
    ),
    "no system prompt": (
        sent(lambda message: None if message.role == "system" else message),
        ["system prompt:"],
    ),
    "system prompt said by the user": (
        sent(lambda m: Message("user", m.content) if m.role == "system" else m),
        ["system prompt:"],
    ),
    "calls missing from the history": (
        sent(lambda m: Message("assistant", m.content) if m.role == "assistant" else m),
        ["results are paired:", "no open function call has the ref"],
    ),
    "results for the wrong id": (
        sent(same_id),
        ["results are paired:", "no open function call has the ref"],
    ),
    "assistant appended twice": (
        lambda client: Careless(
            client, before=lambda ms: [m for m in ms for _ in range(1 + (m.role == "assistant"))]
        ),
        ["conversation:", "every message once, in order"],
    ),
    "failure swallowed": (
        Swallows,
        ["transient failure:", "permanent failure:", "the failure was swallowed"],
    ),
    "every failure transient": (
        AllTransient,
        ["permanent failure:", "retryable=True", "overflow:"],
    ),
    "keeps the conversation": (Remembers, ["no memory:", "nothing of the request before"]),
    "takes the prompt out of the list": (Consumes, ["input is left alone:"]),
    "a call nobody asked for": (
        turned(tool_calls=lambda turn: turn.tool_calls or (ToolCall("c", "look"),)),
        ["text:", "no calls in an answer of text only"],
    ),
    "names changed": (
        turned(tool_calls=lambda t: tuple(rename(call) for call in t.tool_calls)),
        ["calls:", "the name of the call"],
    ),
    "calls of its own type": (
        turned(tool_calls=lambda t: tuple(OwnCall(**as_data(call)) for call in t.tool_calls)),
        ["only our types:", "calls of our own type"],
    ),
    "text of its own type": (
        turned(content=lambda turn: Text(turn.content)),
        ["only our types:", "plain text"],
    ),
    "streams something else": (Shows, ["text:", "pieces that add up to the text of the turn"]),
    "never the same twice": (Counts, ["no memory:", "the same answer to make the same turn"]),
    "defaults of its own": (
        HasDefaults,
        ["system prompt:", "no system prompt where none was given", "tools:", "none were offered"],
    ),
    "errors of its own": (
        RaisesItsOwn,
        ["transient failure:", "it raised RuntimeError", "overflow:"],
    ),
    "SDK let through": (Raw, ["text:", "a ModelTurn in the end", "transient failure:"]),
    "unknown content shown": (ShowsEverything, ["unknown content:", "private items:", "tools:"]),
}


@pytest.mark.parametrize("name", WRONG_ADAPTERS)
def test_a_wrong_adapter_is_told_why(name: str) -> None:
    wrong, messages = WRONG_ADAPTERS[name]
    with pytest.raises(AssertionError) as failure:
        grade_adapter(VendorUnderTest(wrong), VendorUnderTest.usage)
    for message in messages:
        assert message in str(failure.value)


@pytest.mark.parametrize("seed", range(5))
def test_models_of_ours_pass_the_kit_with_any_seed(seed: int) -> None:
    assert check_model(VendorUnderTest(solutions.adapter), seed) == []
    assert check_model(ScriptedUnderTest(), seed) == []
