"""One way to do each exercise of s01. Look after you have tried."""

from __future__ import annotations

from collections.abc import Sequence

from curriculum.core.errors import ContextOverflowError, ModelError, TransientModelError
from curriculum.core.loop import AgentConfig, AgentRunner, RunResult
from curriculum.core.messages import Message, ModelTurn, ToolCall, Usage
from curriculum.core.model import Model, ScriptedModel
from curriculum.grading.transition_table import Row
from curriculum.lessons.s01_agent_loop import vendor_sdk


# region: first_request
def first_request(runner: AgentRunner) -> Sequence[Message]:
    """A. The model double remembers what it was shown."""
    assert isinstance(runner.model, ScriptedModel)
    return runner.model.requests[0]


# endregion


# region: run_out_of_turns
def run_out_of_turns(prompt: str, max_turns: int = 1) -> RunResult:
    """B. A model that never stops asking, and a harness that stops all the same."""
    calls = [ToolCall(f"call-{number}", "fiction") for number in range(max_turns)]
    model = ScriptedModel([ModelTurn(tool_calls=(call,)) for call in calls])
    config = AgentConfig(max_turns=max_turns, max_tool_calls=max_turns)
    return AgentRunner(model, config=config).run(prompt)


# endregion

# region: cancellation
CANCELLED = ("error", "session.stop cancelled")
GIVEN_UP = ("model.response cancelled", *CANCELLED)
CANCELLATION: list[Row] | None = [
    # Nothing is open: the next check point sees the cancel.
    ("ready", "check point", "asking", ("model.request",)),
    ("ready", "cancel by user", "ready, cancelled", ("cancel.request user",)),
    ("ready", "cancel by policy", "ready, cancelled", ("cancel.request policy",)),
    ("ready, cancelled", "check point", "stopped", CANCELLED),
    ("ready, cancelled", "cancel by user", "ready, cancelled", ()),
    ("ready, cancelled", "cancel by policy", "ready, cancelled", ()),
    # A request is open: whatever arrives next is a check point too, and is thrown away.
    ("asking", "chunk", "asking", ("model.delta",)),
    ("asking", "answer", "stopped", ("model.response completed", "session.stop completed")),
    ("asking", "answer with a call", "called", ("model.response completed", "tool.call")),
    ("asking", "cancel by user", "asking, cancelled", ("cancel.request user",)),
    ("asking", "cancel by policy", "asking, cancelled", ("cancel.request policy",)),
    ("asking, cancelled", "chunk", "stopped", GIVEN_UP),
    ("asking, cancelled", "answer", "stopped", GIVEN_UP),
    ("asking, cancelled", "answer with a call", "stopped", GIVEN_UP),
    ("asking, cancelled", "cancel by user", "asking, cancelled", ()),
    ("asking, cancelled", "cancel by policy", "asking, cancelled", ()),
    # A call is proposed and has not started: it never will.
    ("called", "check point", "acting", ("tool.start",)),
    ("called", "cancel by user", "called, cancelled", ("cancel.request user",)),
    ("called", "cancel by policy", "called, cancelled", ("cancel.request policy",)),
    ("called, cancelled", "check point", "stopped", ("tool.result not_executed", *CANCELLED)),
    ("called, cancelled", "cancel by user", "called, cancelled", ()),
    ("called, cancelled", "cancel by policy", "called, cancelled", ()),
    # A tool is in flight: it may finish, but only for so long.
    ("acting", "tool ends", "ready", ("tool.result completed",)),
    ("acting", "cancel by user", "acting, cancelled", ("cancel.request user",)),
    ("acting", "cancel by policy", "acting, cancelled", ("cancel.request policy",)),
    ("acting, cancelled", "tool ends", "stopped", ("tool.result completed", *CANCELLED)),
    ("acting, cancelled", "tool overdue", "stopped", ("tool.result unknown", *CANCELLED)),
    ("acting, cancelled", "cancel by user", "acting, cancelled", ()),
    ("acting, cancelled", "cancel by policy", "acting, cancelled", ()),
]
# endregion


# region: adapter
class VendorModel:
    """D. Translates at the edge; the vendor's objects never get past this class."""

    def __init__(self, client: vendor_sdk.Client) -> None:
        self._client = client

    def respond(self, messages: Sequence[Message], tools: Sequence[dict[str, object]]) -> ModelTurn:
        request = vendor_sdk.Request(
            items=[to_item(message) for message in messages if message.role != "system"],
            instructions="\n\n".join(m.content for m in messages if m.role == "system"),
            functions=[to_function(tool) for tool in tools],
        )
        try:
            return to_turn(self._client.create(request))
        except (vendor_sdk.ConnectionLost, vendor_sdk.Overloaded) as error:
            raise TransientModelError(str(error)) from error
        except vendor_sdk.InputTooLong as error:
            raise ContextOverflowError(str(error)) from error
        except vendor_sdk.VendorError as error:
            raise ModelError(str(error)) from error


def to_item(message: Message) -> vendor_sdk.Item:
    """One message in the vendor's words."""
    if message.role == "user":
        return vendor_sdk.UserItem(message.content)
    if message.role == "tool":
        return vendor_sdk.ReturnItem(message.call_id or "", message.content)
    sealed = message.opaque if isinstance(message.opaque, list) else []
    text = [vendor_sdk.TextPart(message.content)] if message.content else []
    calls = [
        vendor_sdk.FunctionPart(call.call_id, call.name, call.arguments)
        for call in message.tool_calls
    ]
    return vendor_sdk.AssistantItem([*map(vendor_sdk.SealedPart, sealed), *text, *calls])


def to_function(tool: dict[str, object]) -> vendor_sdk.Function:
    """One tool descriptor in the vendor's words."""
    schema = tool["parameters"]
    assert isinstance(schema, dict)
    return vendor_sdk.Function(str(tool["name"]), str(tool["description"]), schema)


def to_turn(reply: vendor_sdk.Reply) -> ModelTurn:
    """The reply in ours. What was cut off or is of an unknown kind is refused: half is none."""
    if reply.finish == "length":
        raise ModelError("the answer was cut off at the limit of output tokens")
    text, calls, sealed = "", [], []
    for part in reply.parts:
        if isinstance(part, vendor_sdk.TextPart):
            text += part.text
        elif isinstance(part, vendor_sdk.FunctionPart):
            calls.append(ToolCall(part.ref, part.function, part.input))
        elif isinstance(part, vendor_sdk.SealedPart):
            sealed.append(part.blob)
        else:
            raise ModelError(f"the model sent content of a kind not known: {type(part).__name__}")
    return ModelTurn(
        content=text,
        tool_calls=tuple(calls),
        stop=reply.finish == "end",
        usage=Usage(reply.tokens_in, reply.tokens_out),
        opaque=sealed or None,
    )


def adapter(client: vendor_sdk.Client) -> Model:
    """D. The exercise asks for a factory."""
    return VendorModel(client)


# endregion
