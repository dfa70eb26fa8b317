"""The graders of s01 are graded: the reference passes, and each wrong solution is told why."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence

import pytest

from curriculum.core.errors import ModelError, TransientModelError
from curriculum.core.loop import AgentConfig, AgentRunner, RunResult
from curriculum.core.messages import Message, ModelTurn, ToolCall
from curriculum.core.model import Model, ScriptedModel
from curriculum.core.tools import Prepared, RunningCall, ToolBox, ToolDefinition, ToolResult
from curriculum.core.values import as_data, replace
from curriculum.grading.model_conformance import check_model
from curriculum.grading.model_under_test import Entry, Sent
from curriculum.grading.s01 import (
    grade_adapter,
    grade_cancellation,
    grade_first_request,
    grade_run_out_of_turns,
)
from curriculum.grading.transition_table import Row, check_table
from curriculum.lessons.s01_agent_loop import demo, solutions
from curriculum.lessons.s01_agent_loop import vendor_sdk as sdk
from curriculum.tests.under_test import ScriptedUnderTest, VendorUnderTest


def test_the_reference_passes() -> None:
    grade_first_request(solutions.first_request)
    grade_run_out_of_turns(solutions.run_out_of_turns)
    assert solutions.CANCELLATION is not None
    grade_cancellation(solutions.CANCELLATION)
    grade_adapter(VendorUnderTest(solutions.adapter))


def test_first_request_of_the_demo_is_its_prompt() -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        runner = demo.main()
    assert solutions.first_request(runner) == (Message("user", demo.PROMPT),)


# A. first_request


def requests(runner: AgentRunner) -> list[Sequence[Message]]:
    assert isinstance(runner.model, ScriptedModel)
    return runner.model.requests


def half_done(runner: AgentRunner) -> Sequence[Message]:
    assert requests(runner)
    raise NotImplementedError


WRONG_FIRST_REQUESTS: dict[str, tuple[Callable[[AgentRunner], object], str]] = {
    "the last request": (lambda runner: requests(runner)[-1], "what the last request showed"),
    "hard-coded": (lambda runner: (Message("user", demo.PROMPT),), "the prompt of this run was"),
    "texts, not messages": (
        lambda runner: [message.content for message in requests(runner)[0]],
        "not the Message values",
    ),
    "all requests": (requests, "not the Message values of one request"),
    "the second message": (lambda runner: requests(runner)[0][1:], "the prompt of this run was"),
    "printed": (lambda runner: print(requests(runner)[0]), "printing is not returning"),
    "with the answer": (
        lambda runner: (*requests(runner)[0], Message("assistant", "done")),
        "the answer was not there yet",
    ),
    "without the system prompt": (
        lambda runner: [m for m in requests(runner)[0] if m.role != "system"],
        "system: 'Be brief.'",
    ),
    "crashes": (lambda runner: requests(runner)[7], r"IndexError.*test_s01.py, line \d+"),
    "half done": (half_done, r"half done: NotImplementedError \(test_s01.py, line \d+\)"),
}


@pytest.mark.parametrize("name", WRONG_FIRST_REQUESTS)
def test_a_wrong_first_request_is_told_why(name: str) -> None:
    wrong, message = WRONG_FIRST_REQUESTS[name]
    with pytest.raises(AssertionError, match=message):
        grade_first_request(wrong)  # type: ignore[arg-type]


# B. run_out_of_turns


def run_with(
    calls: Sequence[str], prompt: str, max_turns: int, max_tool_calls: int = 99
) -> RunResult:
    turns = [ModelTurn(tool_calls=(ToolCall(call_id, "fiction"),)) for call_id in calls]
    config = AgentConfig(max_turns=max_turns, max_tool_calls=max_tool_calls)
    return AgentRunner(ScriptedModel(turns), config=config).run(prompt)


def ids(count: int) -> list[str]:
    return [f"c{number}" for number in range(count)]


def forged(prompt: str, limit: int) -> RunResult:
    return RunResult("max-turns", (), ())


def edited(prompt: str, limit: int) -> RunResult:
    real = run_with(ids(limit - 1), prompt, limit)
    return RunResult("max-turns", real.messages, real.events)


class Fiction:
    """A tool where none should be."""

    definition = ToolDefinition("fiction", "Not so fictional.", {"type": "object"})

    def prepare(self, arguments: str) -> Prepared:
        return Prepared({}, None)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        return ToolResult("completed")


def real_tool(prompt: str, limit: int) -> RunResult:
    turns = [ModelTurn(tool_calls=(ToolCall(call_id, "fiction"),)) for call_id in ids(limit)]
    config = AgentConfig(max_turns=limit, max_tool_calls=99)
    tools = ToolBox([Fiction()], granted=["fiction"])
    return AgentRunner(ScriptedModel(turns), tools, config).run(prompt)


def appended_twice(prompt: str, limit: int) -> RunResult:
    real = run_with(ids(limit), prompt, limit)
    return RunResult(real.stop_reason, real.messages * 2, real.events)


def without(type: str, count: bool) -> Callable[[str, int], RunResult]:
    """A real run with events taken out; unless `count`, session.stop is made to fit."""

    def run(prompt: str, limit: int) -> RunResult:
        real = run_with(ids(limit), prompt, limit)
        events = [event for event in real.events if event.type != type]
        if not count:
            payload = {**events[-1].payload, "event_count": len(events)}
            events[-1] = replace(events[-1], payload=payload)
        return RunResult(real.stop_reason, real.messages, tuple(events))

    return run


WRONG_RUNS: dict[str, tuple[Callable[[str, int], object], str]] = {
    "one turn too few": (
        lambda prompt, limit: run_with(ids(limit - 1), prompt, limit),
        "stopped as 'failed' because of: the script has only 0 turns",
    ),
    "ignores the limit": (
        lambda prompt, limit: run_with(["c"], prompt, 1),
        "an error of kind max-turns with max_turns=2",
    ),
    "off by one": (
        lambda prompt, limit: run_with(ids(limit + 1), prompt, limit + 1),
        "max_turns=1\n.*'max_turns': 2",
    ),
    "one call id for all": (
        lambda prompt, limit: run_with(["c"] * limit, prompt, limit),
        "because of: the call_id 'c' was used before",
    ),
    "no tool call": (
        lambda prompt, limit: AgentRunner(ScriptedModel([ModelTurn("done")])).run(prompt),
        "stopped as 'completed'",
    ),
    "calls run out first": (
        lambda prompt, limit: run_with(ids(limit), prompt, limit, max_tool_calls=16),
        "stopped as 'max-tool-calls' because of: more than 16 tool calls",
    ),
    "hard-coded prompt": (
        lambda prompt, limit: run_with(ids(limit), "go", limit),
        "one user message 'Task .*\n.*'go'",
    ),
    "the runner, not its result": (
        lambda prompt, limit: AgentRunner(ScriptedModel([])),
        "the RunResult that `run` returned",
    ),
    "a tool that is not fictional": (real_tool, "the trace has a tool.start"),
    "assistant appended twice": (appended_twice, "1 assistant messages, one an answer\n.*hold 2"),
    "events left out": (
        without("model.response", count=True),
        "a session.stop for max-turns",
    ),
    "requests left out": (
        without("model.request", count=False),
        "1 model requests\n.*the trace shows 0",
    ),
    "forged reason": (forged, "error and session.stop as last events"),
    "reason edited": (edited, "an error of kind max-turns"),
}


@pytest.mark.parametrize("name", WRONG_RUNS)
def test_a_wrong_run_out_of_turns_is_told_why(name: str) -> None:
    wrong, message = WRONG_RUNS[name]
    with pytest.raises(AssertionError, match=message):
        grade_run_out_of_turns(wrong)  # type: ignore[arg-type]


# C. CANCELLATION


def table(change: dict[tuple[str, str], Row | None] | None = None, *more: Row) -> list[Row]:
    """The reference with some rows replaced (None: left out) and more rows at the end."""
    assert solutions.CANCELLATION is not None
    change = change or {}
    assert change.keys() <= {(row[0], row[1]) for row in solutions.CANCELLATION}
    rows = [change.get((row[0], row[1]), row) for row in solutions.CANCELLATION]
    return [*(row for row in rows if row is not None), *more]


def with_row(state: str, event: str, target: str, *records: str) -> list[Row]:
    return table({(state, event): (state, event, target, records)})


STOP = ("error", "session.stop cancelled")
WRONG_TABLES: dict[str, tuple[object, str]] = {
    "a case forgotten": (
        table({("acting", "cancel by policy"): None}),
        "not complete: no row for state 'acting'; path: check point -> answer with a call"
        " -> check point -> cancel by policy",
    ),
    "a second cancel forgotten": (
        table({("asking, cancelled", "cancel by user"): None}),
        "not complete: no row for state 'asking, cancelled'; path: check point -> cancel by user"
        " -> cancel by user",
    ),
    "two rows for one case": (
        table({}, ("acting", "tool ends", "ready", ("tool.result completed",))),
        "not deterministic: two rows for state 'acting' and event 'tool ends'",
    ),
    "a way out of the stop": (
        table({}, ("stopped", "check point", "ready", ())),
        "a way out of the stop 'stopped'",
    ),
    "a tool without a result": (
        with_row("acting, cancelled", "tool overdue", "stopped", *STOP),
        "the run stops while a tool in flight has no result; path: .* -> tool overdue",
    ),
    "two results": (
        with_row(
            "acting, cancelled",
            "tool ends",
            "stopped",
            "tool.result completed",
            "tool.result unknown",
            *STOP,
        ),
        "a call gets a second result",
    ),
    "a started tool called not executed": (
        with_row("acting, cancelled", "tool overdue", "stopped", "tool.result not_executed", *STOP),
        "a tool that has started is reported as not_executed",
    ),
    "a killed tool called completed": (
        with_row("acting, cancelled", "tool overdue", "stopped", "tool.result completed", *STOP),
        "reported as completed before it has ended",
    ),
    "the cancel is not in the trace": (
        with_row("ready", "cancel by user", "ready, cancelled"),
        "without cancel.request in the trace before session.stop; path: cancel by user",
    ),
    "the cancel names the wrong one": (
        with_row("asking", "cancel by policy", "asking, cancelled", "cancel.request user"),
        "cancel.request names user, but policy asked first",
    ),
    "the cancel is recorded twice": (
        with_row("acting, cancelled", "cancel by user", "acting, cancelled", "cancel.request user"),
        "cancel.request is recorded twice",
    ),
    "nothing checks an endless stream": (
        with_row("asking, cancelled", "chunk", "asking, cancelled", "model.delta"),
        "can go on for ever in 'asking, cancelled': nothing checks for it; path: .* -> chunk",
    ),
    "an overdue tool is waited for": (
        with_row("acting, cancelled", "tool overdue", "acting, cancelled"),
        "the tool is over, but its call has no tool.result",
    ),
    "the loop goes on after a cancel": (
        with_row("ready, cancelled", "check point", "asking", "model.request"),
        "a model request is made although a cancel was asked for",
    ),
    "a tool is started after a cancel": (
        with_row("called, cancelled", "check point", "acting", "tool.start"),
        "a tool is started although a cancel was asked for",
    ),
    "a request is left open": (
        with_row("asking, cancelled", "answer", "stopped", *STOP),
        "the answer has arrived, but no model.response|while a model request has no response",
    ),
    "no error before the stop": (
        with_row("ready, cancelled", "check point", "stopped", "session.stop cancelled"),
        "a cancelled run needs one error before session.stop",
    ),
    "a cancel that nobody asked for": (
        with_row("ready", "check point", "stopped", "cancel.request user", *STOP),
        "although nobody asked",
    ),
    "a state never reached": (
        table({}, ("paused", "check point", "ready", ())),
        "no path from 'ready' leads to the state 'paused'",
    ),
    "a state without a stop": (
        with_row("called", "check point", "called", "tool.call"),
        "a tool.call is recorded that no answer asked for",
    ),
    "a word of its own": (
        with_row("ready", "check point", "asking", "model.ask"),
        "'model.ask' is none of",
    ),
    "stops when told to work": (
        with_row("ready", "check point", "stopped", "session.stop completed"),
        "completed without a final answer",
    ),
    "a call left open": (
        with_row("called, cancelled", "check point", "stopped", *STOP),
        "the run stops while a call has no result",
    ),
    "stops in the middle of an answer": (
        with_row("asking", "cancel by user", "stopped", "cancel.request user", *STOP),
        "the run stops while a model request has no response",
    ),
    "the call is not recorded": (
        with_row("asking", "answer with a call", "called", "model.response completed"),
        "an answer that asks for a tool has to record tool.call",
    ),
    "the answer is not recorded": (
        with_row("asking, cancelled", "answer", "ready, cancelled"),
        "the answer has arrived, but no model.response closes its request",
    ),
    "waits at a check point": (
        with_row("ready", "check point", "ready"),
        "a check point without a cancel has to go on with the work",
    ),
    "waits at a check point after a cancel": (
        with_row("ready, cancelled", "check point", "ready, cancelled"),
        "the state 'ready, cancelled' never reaches a stop; path: cancel by",
    ),
    "asks twice": (
        with_row("asking", "chunk", "asking", "model.request"),
        "a second model request is made while one is open",
    ),
    "asks before the result": (
        with_row("called", "check point", "asking", "model.request"),
        "a model request is made while a call has no result",
    ),
    "a delta too late": (
        with_row("acting", "tool ends", "ready", "tool.result completed", "model.delta"),
        "a model.delta stands outside a request",
    ),
    "a response to nothing": (
        with_row("called", "check point", "acting", "model.response completed", "tool.start"),
        "a model.response answers no open request",
    ),
    "a piece taken for the answer": (
        with_row("asking", "chunk", "ready", "model.response completed"),
        "a response is completed before its answer is in",
    ),
    "an answer cancelled by nobody": (
        with_row(
            "asking", "answer", "stopped", "model.response cancelled", "session.stop completed"
        ),
        "a response is cancelled by nobody",
    ),
    "the call before its answer": (
        with_row("asking", "answer with a call", "called", "tool.call", "model.response completed"),
        "a tool.call is recorded before the model.response it belongs to",
    ),
    "one call recorded twice": (
        with_row(
            "asking",
            "answer with a call",
            "called",
            "model.response completed",
            "tool.call",
            "tool.call",
        ),
        "the same call is recorded twice",
    ),
    "a start without a call": (
        with_row("acting", "tool ends", "ready", "tool.result completed", "tool.start"),
        "a tool is started that has no open call",
    ),
    "started twice": (
        with_row("called", "check point", "acting", "tool.start", "tool.start"),
        "the same call is started twice",
    ),
    "two errors": (
        with_row("ready, cancelled", "check point", "stopped", "error", *STOP),
        "more than one error is recorded",
    ),
    "an error for nothing": (
        with_row("asking", "chunk", "asking", "model.delta", "error"),
        "an error is recorded although nothing went wrong",
    ),
    "a stop cancelled by nobody": (
        with_row(
            "asking", "answer", "stopped", "model.response completed", "session.stop cancelled"
        ),
        "the run stops as cancelled, but nobody asked",
    ),
    "completed with an error": (
        with_row(
            "asking, cancelled",
            "answer",
            "stopped",
            "model.response completed",
            "error",
            "session.stop completed",
        ),
        "a completed run holds an error",
    ),
    "a word after the last": (
        with_row("ready, cancelled", "check point", "stopped", *STOP, "model.delta"),
        "'model.delta' is recorded after session.stop",
    ),
    "completed without a start": (
        with_row("called, cancelled", "check point", "stopped", "tool.result completed", *STOP),
        "a tool that never started is reported as completed",
    ),
    "given up too early": (
        with_row("acting, cancelled", "tool ends", "stopped", "tool.result unknown", *STOP),
        "a tool is given up as unknown before it is overdue",
    ),
    "no beginning": (
        [row for row in table() if row[0] != "ready"],
        "no row for the state that every run begins in, 'ready'",
    ),
    "an event of its own": (
        table({}, ("ready", "SIGINT", "stopped", STOP)),
        "'SIGINT' is none of the events",
    ),
    "a comma forgotten": (
        [("ready", "check point", "asking", "model.request")],
        "row 1: the records are 'model.request', not a tuple of words",
    ),
    "not a table": ("cancelled", "a table is a list of rows"),
    "a row too short": ([("ready", "chunk", "asking")], "row 1 is"),
}


@pytest.mark.parametrize("name", WRONG_TABLES)
def test_a_wrong_table_is_told_why(name: str) -> None:
    wrong, message = WRONG_TABLES[name]
    with pytest.raises(AssertionError, match=message):
        grade_cancellation(wrong)  # type: ignore[arg-type]


def test_each_row_of_the_reference_is_needed() -> None:
    assert solutions.CANCELLATION is not None
    for row in solutions.CANCELLATION:
        assert check_table(table({(row[0], row[1]): None})), row


def test_another_design_passes_too() -> None:
    """The cancel is recorded at the check point, a tool runs without a state in between."""
    stops = {by: (f"cancel.request {by}", "error", "session.stop cancelled") for by in BY}
    rows: list[Row] = [
        ("ready", "check point", "asking", ("model.request",)),
        ("asking", "chunk", "asking", ("model.delta",)),
        ("asking", "answer", "end", ("model.response completed", "session.stop completed")),
        (
            "asking",
            "answer with a call",
            "acting",
            ("model.response completed", "tool.call", "tool.start"),
        ),
        ("acting", "tool ends", "ready", ("tool.result completed",)),
    ]
    for by, stop in stops.items():
        gone = ("model.response cancelled", *stop)
        rows += [
            (state, f"cancel by {by}", f"{state} {by}", ())
            for state in ("ready", "asking", "acting")
        ]
        rows += [
            (f"{state} {by}", f"cancel by {other}", f"{state} {by}", ())
            for state in ("ready", "asking", "acting")
            for other in BY
        ]
        rows += [(f"ready {by}", "check point", "end", stop)]
        rows += [
            (f"asking {by}", event, "end", gone)
            for event in ("chunk", "answer", "answer with a call")
        ]
        rows += [
            (f"acting {by}", "tool ends", "end", ("tool.result completed", *stop)),
            (f"acting {by}", "tool overdue", "end", ("tool.result unknown", *stop)),
        ]
    assert check_table(rows) == []


BY = ("user", "policy")

# D. adapter: the reference with one habit of beginners each


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


WRONG_ADAPTERS: dict[str, tuple[Callable[[sdk.Client], Model], list[str]]] = {
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
        grade_adapter(VendorUnderTest(wrong))
    for message in messages:
        assert message in str(failure.value)


@pytest.mark.parametrize("seed", range(5))
def test_models_of_ours_pass_the_kit_with_any_seed(seed: int) -> None:
    assert check_model(VendorUnderTest(solutions.adapter), seed) == []
    assert check_model(ScriptedUnderTest(), seed) == []


# What a provider was sent is looked at by the kit, also where the provider would not complain.


class Distorted(ScriptedUnderTest):
    """ScriptedModel, as if its provider had been sent something else."""

    def __init__(self, change: Callable[[Entry], Iterable[Entry]]) -> None:
        super().__init__()
        self._change = change

    def sent(self) -> list[Sent]:
        return [
            Sent(sent.system, tuple(new for entry in sent.entries for new in self._change(entry)))
            for sent in super().sent()
        ]


def but(of: str, **fields: object) -> Callable[[Entry], list[Entry]]:
    """Entries of that role with other fields."""
    return lambda e: [dataclasses.replace(e, **fields) if e.role == of else e]  # type: ignore[arg-type]


DISTORTIONS: dict[str, tuple[Callable[[Entry], Iterable[Entry]], list[str]]] = {
    "calls lost": (but("assistant", calls=()), ["results are paired:", "in the request again"]),
    "ids lost": (but("tool", call_id="x"), ["results are paired:", "under its own call_id"]),
    "results changed": (but("tool", text="ok"), ["results are paired:", "its own call_id"]),
    "results as user": (but("tool", role="user"), ["results are paired:"]),
    "private lost": (but("assistant", private=""), ["private items:"]),
    "doubled": (lambda entry: [entry, entry], ["conversation:", "system prompt:", "no memory:"]),
    "nothing sent": (lambda entry: [], ["conversation:", "results are paired:"]),
}


@pytest.mark.parametrize("name", DISTORTIONS)
def test_a_wrong_request_is_seen_whatever_the_provider_says(name: str) -> None:
    change, messages = DISTORTIONS[name]
    findings = "\n".join(check_model(Distorted(change)))
    for message in messages:
        assert message in findings


def test_a_check_that_is_lacking_must_exist() -> None:
    under_test = ScriptedUnderTest()
    under_test.lacks = {"telepathy": "not built in"}
    with pytest.raises(ValueError, match="telepathy"):
        check_model(under_test)
