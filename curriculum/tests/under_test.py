"""Harnesses for the model conformance kit: the made-up vendor SDK, and our own ScriptedModel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from curriculum.core.errors import ContextOverflowError, ModelError, TransientModelError
from curriculum.core.messages import ModelTurn, ToolCall, Usage
from curriculum.core.model import Model, ScriptedModel
from curriculum.grading.model_under_test import Answer, Entry, Failure, Script, Sent
from curriculum.lessons.s01_agent_loop import vendor_sdk as sdk


class VendorUnderTest:
    """An adapter around `vendor_sdk.Client`; `adapter` makes the model from a client."""

    lacks: Mapping[str, str] = {}
    usage = Usage(7, 5)

    def __init__(self, adapter: Callable[[sdk.Client], Model]) -> None:
        self._adapter = adapter
        self._client = sdk.Client([])

    def build(self, script: Script) -> Model:
        self._client = sdk.Client([_reply(answer) for answer in script])
        return self._adapter(self._client)

    def sent(self) -> list[Sent]:
        return [_sent(request) for request in self._client.sent]


def _reply(answer: Answer | Failure) -> sdk.Reply | sdk.VendorError:
    if isinstance(answer, Failure):
        kinds = {
            "transient": sdk.Overloaded if len(answer.message) % 2 else sdk.ConnectionLost,
            "permanent": sdk.BadRequest,
            "overflow": sdk.InputTooLong,
        }
        return kinds[answer.kind](answer.message)
    parts: list[sdk.Part] = []
    if answer.private:
        half = len(answer.private) // 2  # the vendor may cut what is its own, too
        parts += [sdk.SealedPart(answer.private[:half]), sdk.SealedPart(answer.private[half:])]
    if answer.text:
        half = len(answer.text) // 2  # the vendor may cut a text into several parts
        parts += [sdk.TextPart(answer.text[:half]), sdk.TextPart(answer.text[half:])]
    if answer.unknown:
        parts.append(sdk.SoundPart("flac", b"\0\1"))
    parts += [sdk.FunctionPart(call.call_id, call.name, call.arguments) for call in answer.calls]
    finish = "length" if answer.cut else "function" if answer.calls else "end"
    usage = VendorUnderTest.usage
    return sdk.Reply(parts, finish, usage.input_tokens, usage.output_tokens)


def _sent(request: sdk.Request) -> Sent:
    tools = tuple((tool.name, tool.purpose, tool.schema) for tool in request.functions)
    return Sent(request.instructions, tuple(map(_entry, request.items)), tools)


def _entry(item: sdk.Item) -> Entry:
    if isinstance(item, sdk.UserItem):
        return Entry("user", item.text)
    if isinstance(item, sdk.ReturnItem):
        return Entry("tool", item.output, call_id=item.ref)
    parts = item.parts
    return Entry(
        "assistant",
        "".join(part.text for part in parts if isinstance(part, sdk.TextPart)),
        tuple(
            ToolCall(part.ref, part.function, part.input)
            for part in parts
            if isinstance(part, sdk.FunctionPart)
        ),
        private="".join(part.blob for part in parts if isinstance(part, sdk.SealedPart)),
    )


class ScriptedUnderTest:
    """ScriptedModel is its own provider: it is sent the messages themselves."""

    lacks: Mapping[str, str] = {
        "tools": "it keeps no record of the tools",
        "unknown content": "a declared turn holds nothing unknown",
        "cut-off answer": "a declared turn is whole",
    }

    def __init__(self) -> None:
        self._model = ScriptedModel([])

    def build(self, script: Script) -> Model:
        self._model = ScriptedModel([_turn(answer) for answer in script])
        return self._model

    def sent(self) -> Sequence[Sent]:
        return [
            Sent(
                "".join(m.content for m in request if m.role == "system"),
                tuple(
                    Entry(m.role, m.content, m.tool_calls, m.call_id, str(m.opaque or ""))
                    for m in request
                    if m.role != "system"
                ),
            )
            for request in self._model.requests
        ]


def _turn(answer: Answer | Failure) -> ModelTurn | Exception:
    if isinstance(answer, Failure):
        kinds = {
            "transient": TransientModelError,
            "permanent": ModelError,
            "overflow": ContextOverflowError,
        }
        return kinds[answer.kind](answer.message)
    return ModelTurn(answer.text, answer.calls, opaque=answer.private or None)
