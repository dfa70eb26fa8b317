"""Solutions that are wrong in one small thing: each grader tells it, by its name."""

from __future__ import annotations

import itertools
import json
import math
import os
import posixpath
import re
import stat
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from curriculum.core.approval import ApprovalRequest, Decision
from curriculum.core.errors import (
    AuthenticationError,
    BudgetError,
    CancelledError,
    ContextOverflowError,
    InvalidArgumentsError,
    ModelError,
    RunError,
)
from curriculum.core.loop import AgentConfig, AgentRunner
from curriculum.core.messages import Message, ModelTurn, Usage
from curriculum.core.meters import Prices
from curriculum.core.model import Retry, stream_turn
from curriculum.core.retry import RetryingModel, RetryPolicy
from curriculum.core.tools import Prepared, ToolBox
from curriculum.core.trace import Event
from curriculum.core.values import replace
from curriculum.grading import s10 as grader_of_s10
from curriculum.grading.circuit_breaker import grade_circuit_breaker
from curriculum.grading.display_conformance import grade_render
from curriculum.grading.exact_commands import grade_exact_commands
from curriculum.grading.masked_stream import grade_masked_stream
from curriculum.grading.path_groups import grade_groups_by_path
from curriculum.grading.purse import grade_purse
from curriculum.grading.read_file import grade_read_file
from curriculum.grading.s01 import grade_adapter, grade_cancellation
from curriculum.grading.s02 import grade_word_by_word
from curriculum.grading.s03 import grade_pair_results, grade_word_count
from curriculum.grading.s04 import grade_decisions_of
from curriculum.grading.s05 import grade_save_points
from curriculum.grading.s06 import grade_open_calls, grade_recover
from curriculum.grading.s07 import grade_classify, grade_outcome_of
from curriculum.grading.s08 import grade_attempts_of, grade_fallback
from curriculum.grading.s09 import grade_keep_last_turns, grade_left_out, grade_requests_of
from curriculum.grading.s10 import grade_overlaps, grade_reads_together
from curriculum.grading.s11 import grade_bill_of, grade_tiered_money
from curriculum.grading.s12 import grade_assemble
from curriculum.grading.store_crashes import grade_store
from curriculum.lessons.s01_agent_loop import solutions as s01
from curriculum.lessons.s02_streaming import solutions as s02
from curriculum.lessons.s03_bash_tool import solutions as s03
from curriculum.lessons.s04_approvals import solutions as s04
from curriculum.lessons.s06_recovery import solutions as s06
from curriculum.lessons.s07_provider import solutions as s07
from curriculum.lessons.s08_when_to_give_up import solutions as s08
from curriculum.lessons.s09_context import solutions as s09
from curriculum.lessons.s10_concurrency import solutions as s10
from curriculum.lessons.s11_cost import solutions as s11
from curriculum.lessons.s12_mino import solutions as s12
from curriculum.tests.under_test import VendorUnderTest

Messages, Tools = Sequence[Message], Sequence[dict[str, object]]
Items = Iterator[str | Retry | ModelTurn]


def grade_vendor(adapter: Any) -> None:
    grade_adapter(VendorUnderTest(adapter), VendorUnderTest.usage)


def answering(change: Callable[[ModelTurn], ModelTurn]) -> Any:
    """An adapter whose turns are changed."""

    class Changed(s01.VendorModel):
        def respond(self, messages: Messages, tools: Tools) -> ModelTurn:
            return change(super().respond(messages, tools))

    return Changed


def asking(change: Callable[[Messages], Messages]) -> Any:
    """An adapter that is shown changed messages."""

    class Changed(s01.VendorModel):
        def respond(self, messages: Messages, tools: Tools) -> ModelTurn:
            return super().respond(change(messages), tools)

    return Changed


def only_first_system(messages: Messages) -> Messages:
    later = [m for m in messages if m.role == "system"][1:]
    return [m for m in messages if m not in later]


def swap(turn: ModelTurn) -> ModelTurn:
    assert turn.usage
    return replace(turn, usage=Usage(turn.usage.output_tokens, turn.usage.input_tokens))


CALL_LOST = [
    (state, event, target, ("model.response completed", *records[1:]))
    if (state, event) == ("asking, cancelled", "answer with a call")
    else (state, event, target, records)
    for state, event, target, records in s01.CANCELLATION or []
]


class FlushesAtAFault(s02.WordByWord):
    def stream(self, messages: Messages, tools: Tools) -> Items:
        held = ""
        try:
            for item in stream_turn(self._model, messages, tools):
                if isinstance(item, str):
                    held += item
                    words = re.findall(r"\s*\S+(?=\s)", held)
                    yield from words
                    held = held[sum(map(len, words)) :]
                    continue
                if isinstance(item, ModelTurn) and held:
                    yield held
                    held = ""
                yield item
        except Exception:
            if held:
                yield held
            raise


class LeavesTheChunks(s02.MaskedStream):
    def _masked(self, turn: ModelTurn) -> ModelTurn:
        return replace(super()._masked(turn), chunks=turn.chunks)


def losing(**fields: object) -> Any:
    class Loses(s02.MaskedStream):
        def _masked(self, turn: ModelTurn) -> ModelTurn:
            return replace(super()._masked(turn), **fields)

    return Loses


class StripsSecrets(s02.MaskedStream):
    def __init__(self, model: Any, secrets: Sequence[str]) -> None:
        super().__init__(model, [secret.strip() for secret in secrets])


Pairs = dict[str, tuple[str, str] | None]


def outputs(change: Callable[[str], str]) -> Callable[[Sequence[Event]], Pairs]:
    def pair_results(events: Sequence[Event]) -> Pairs:
        pairs = s03.pair_results(events)
        return {i: pair and (pair[0], change(pair[1])) for i, pair in pairs.items()}

    return pair_results


class RefusesEmpty(s03.WordCount):
    def prepare(self, arguments: str) -> Prepared:
        prepared = super().prepare(arguments)
        if not prepared.action:
            raise InvalidArgumentsError("there is no text")
        return prepared


class RefusesDots(s03.ReadFile):
    def prepare(self, arguments: str) -> Prepared:
        prepared = super().prepare(arguments)
        if ".." in str(prepared.action):
            raise InvalidArgumentsError("..")
        return prepared


class ComparesNames(s03.ReadFile):
    """folder/inside-too begins with folder/inside."""

    def _read(self, path: str) -> bytes:
        real = os.path.realpath(os.path.join(self._directory, path))
        if not real.startswith(self._directory):
            raise PermissionError(1, "it lies outside")
        with open(real, "rb", opener=s03.open_itself) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError(22, "it is not a regular file")
            return file.read(self._limit_bytes + 1)


class ShowsThePathOnly(s03.ReadFile):
    def prepare(self, arguments: str) -> Prepared:
        action = super().prepare(arguments).action
        return Prepared({"path": action}, action)


class TakesTheDirectoryAsItIs(s03.ReadFile):
    def __init__(self, directory: str, limit_bytes: int) -> None:
        self._directory, self._limit_bytes = directory, limit_bytes


Told = dict[str, tuple[str, str, str] | None]


def decided(change: Callable[[str, str, str], tuple[str, str, str]]) -> Any:
    def decisions_of(events: Sequence[Event]) -> Told:
        told = s04.decisions_of(events)
        return {i: entry and change(*entry) for i, entry in told.items()}

    return decisions_of


def of_the_last_question(events: Sequence[Event]) -> Told:
    told: Told = {}
    for event in events:
        if event.type == "approval.request":
            last = str(event.payload["call_id"])
            told[last] = None
        elif event.type == "approval.decision":
            who = f"{event.actor['kind']} {event.actor['id']}"
            why = str(event.payload.get("rationale", ""))
            told[last] = (who, str(event.payload["decision"]), why)
    return told


class ResolvesTheDirectory(s04.ExactCommands):
    def decide(self, request: ApprovalRequest) -> Decision:
        folder = request.display.get("directory")
        if isinstance(folder, str):
            display = {**request.display, "directory": os.path.realpath(folder)}
            if display.get("command") in self._commands:
                return super().decide(replace(request, display=display))
        return super().decide(request)


class SilentWithoutAList(s04.ExactCommands):
    def decide(self, request: ApprovalRequest) -> Decision:
        if not self._commands and not self._otherwise:
            return Decision("deny", "policy", "exact-commands", "")
        return super().decide(request)


class ComparesTheBeginning(s04.ExactCommands):
    def decide(self, request: ApprovalRequest) -> Decision:
        command, listed = request.display.get("command"), [c[:200] for c in self._commands]
        if isinstance(command, str) and len(command) > 200 and command[:200] in listed:
            whole = self._commands[listed.index(command[:200])]
            request = replace(request, display={**request.display, "command": whole})
        return super().decide(request)


class RemembersTheRequest(s04.ExactCommands):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._told: dict[int, tuple[ApprovalRequest, Decision]] = {}  # kept, or ids come again

    def decide(self, request: ApprovalRequest) -> Decision:
        if id(request) not in self._told:
            self._told[id(request)] = request, super().decide(request)
        return self._told[id(request)][1]


def rounded(field: object) -> object:
    if isinstance(field, Mapping):
        return {name: rounded(inner) for name, inner in field.items()}
    return round(field, 6) if isinstance(field, float) else field


def renders_rounded(request: ApprovalRequest) -> str:
    display = {name: rounded(field) for name, field in request.display.items()}
    return s04.render(replace(request, display=display))


def one_block(path: str) -> list[tuple[str, str]]:
    with open(path, "rb") as file:
        _, *lines = file.read(1 << 16).split(b"\n")[:-1]
    records = [json.loads(line) for line in lines]
    return [(record["kind"], record["data"].get("call_id", "")) for record in records]


def recovers_five(records: Sequence[Any]) -> Any:
    *results, end = s06.recover(records) or [None]
    return [*results[:5], end] if end else []


class OnlyTheFirstDoubt(s06.Store):
    @property
    def unacknowledged(self) -> Sequence[str]:
        return list(super().unacknowledged)[:1]


class AcknowledgesAll(s06.Store):
    def acknowledge(self, call_id: str) -> None:
        for unknown in self.unacknowledged:
            super().acknowledge(unknown)


class ForgetsOpaque(s06.Store):
    @property
    def messages(self) -> Sequence[Message]:
        return [replace(message, opaque=None) for message in super().messages]


class TellsLaterTurns(s06.Store):
    @property
    def messages(self) -> Sequence[Message]:
        return s06.replay(self._records)


Outcome = tuple[str, str, list[str]]


def each_name_once(recording: bytes) -> Outcome:
    shown, ending, calls = s07.outcome_of(recording)
    return shown, ending, list(dict.fromkeys(calls))


def below_600(status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
    return s07.classify(status if status < 600 else 400, headers, body)


def waits_for_a_key(status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
    error = s07.classify(status, headers, body)
    error.retry_after_seconds = s07._wait(headers)
    return error


def waits_for_two(status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
    told = headers if status in (429, 503) else {}
    return s07.classify(status, told, body)


def status_first(status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
    error = s07.classify(status, headers, body)
    return AuthenticationError(str(error)) if status in (401, 403) else error


def at_most_three(events: Sequence[Event]) -> list[tuple[int, int, str | None]]:
    return [(min(count, 3), waited, status) for count, waited, status in s08.attempts_of(events)]


class BlankIsNoText(s08.Fallback):
    def stream(self, messages: Messages, tools: Tools) -> Items:
        for number, model in enumerate(self._models, 1):
            shown = False
            try:
                for item in stream_turn(model, messages, tools):
                    shown = shown or (isinstance(item, str) and bool(item.strip()))
                    yield item
                return
            except ContextOverflowError:
                raise
            except ModelError as fault:
                if shown or number == len(self._models):
                    raise
                yield Retry(fault.message, 0)


class AsksAnotherAtAnyFault(s08.Fallback):
    """Takes a broken answer for a failure of the model: it is a ProtocolError."""

    def stream(self, messages: Messages, tools: Tools) -> Items:
        for number, model in enumerate(self._models):
            only_this = s08.Fallback(self._models[number : number + 1])
            shown = False
            try:
                for item in only_this.stream(messages, tools):
                    shown = shown or not isinstance(item, Retry)
                    yield item
                return
            except (ContextOverflowError, CancelledError):
                raise
            except RunError as fault:
                if shown or model is self._models[-1]:
                    raise
                yield Retry(fault.message, 0)


class FirstFive(s08.Fallback):
    def __init__(self, models: Sequence[Any]) -> None:
        super().__init__(models[:5])


class FromTheRequest(s08.CircuitBreaker):
    """Rests from when the request was made, and not from when it failed."""

    def stream(self, messages: Messages, tools: Tools) -> Items:
        self._asked_us = self._clock.read()[1]
        yield from super().stream(messages, tools)

    def _count(self, fault: ModelError) -> None:
        super()._count(fault)
        if self._open_until_us > self._asked_us:
            self._open_until_us = self._asked_us + self._cool_us


class WholeTenths(s08.CircuitBreaker):
    def _refuse_while_open(self) -> None:
        try:
            super()._refuse_while_open()
        except ModelError as fault:
            fault.retry_after_seconds = round(fault.retry_after_seconds or 0, 1)
            raise


def until_completed(events: Sequence[Event]) -> list[tuple[str, int, int, str | None]]:
    """Takes a compaction to be about every request until one is answered."""
    rows: list[tuple[str, int, int, str | None]] = []
    report: Mapping[str, Any] | None = None
    for event in events:
        payload: Mapping[str, Any] = event.payload
        if event.type == "context.compact":
            report = payload
        elif event.type == "model.response" and payload["status"] == "completed":
            report = None
        elif event.type == "model.request":
            there_were = report or {"message_count_before": payload["message_count"]}
            counts = payload["message_count"], there_were["message_count_before"]
            rows.append((payload["request_id"], *counts, report["reason"] if report else None))
    return rows


class StaysSmall(s09.KeepLastTurns):
    def fit(self, messages: Messages, overflow: ContextOverflowError | None) -> Any:
        view = super().fit(messages, overflow)
        if overflow:
            self._turns = 1
        return view


class TiresOfIt(s09.KeepLastTurns):
    _count = 0

    def fit(self, messages: Messages, overflow: ContextOverflowError | None) -> Any:
        self._count += 1
        return super().fit(messages, overflow) if self._count < 4 else (messages, None)


class RaisesAnother(s09.KeepLastTurns):
    def fit(self, messages: Messages, overflow: ContextOverflowError | None) -> Any:
        try:
            return super().fit(messages, overflow)
        except ContextOverflowError as fault:
            raise ContextOverflowError("again") from fault


def without_empty(events: Sequence[Event], before: Messages) -> list[list[Message]]:
    requests = s09.requests_of(events, before)
    return [[m for m in request if m.content or m.tool_calls] for request in requests]


Outcomes = list[Any]


def by_the_clock(events: Sequence[Event]) -> set[frozenset[str]]:
    span: dict[str, list[float]] = {}
    for event in events:
        call_id = str(event.payload.get("call_id"))
        if event.type == "tool.start":
            span[call_id] = [event.elapsed_us, float("inf")]
        elif event.type == "tool.result" and call_id in span:
            span[call_id][1] = event.elapsed_us
    pairs = itertools.combinations(span, 2)
    return {
        frozenset((a, b)) for a, b in pairs if span[a][0] < span[b][1] and span[b][0] < span[a][1]
    }


def latest_three(events: Sequence[Event]) -> set[frozenset[str]]:
    running: list[str] = []
    pairs: set[frozenset[str]] = set()
    for event in events:
        call_id = str(event.payload.get("call_id"))
        if event.type == "tool.start":
            pairs |= {frozenset((call_id, other)) for other in running[-3:]}
            running.append(call_id)
        elif event.type == "tool.result" and call_id in running:
            running.remove(call_id)
    return pairs


class PoolOfThree(s10.ReadsTogether):
    def run(self, work: Sequence[Callable[[], Any]]) -> Outcomes:
        def tried(one: Callable[[], Any]) -> Any:
            try:
                return one()
            except Exception as fault:
                return fault

        with ThreadPoolExecutor(3) as pool:
            return list(pool.map(tried, work))


class GivesUp(s10.ReadsTogether):
    """Its threads write what they came to; who waits for how long is up to `_wait`."""

    def run(self, work: Sequence[Callable[[], Any]]) -> Outcomes:
        outcomes: Outcomes = [None] * len(work)
        failed = threading.Event()

        def run_one(number: int) -> None:
            try:
                outcomes[number] = work[number]()
            except Exception as fault:
                outcomes[number] = fault
                self._told(failed)

        numbers = range(len(work))
        threads = [threading.Thread(target=run_one, args=[n], daemon=True) for n in numbers]
        for thread in threads:
            thread.start()
        for thread in threads:
            self._wait(thread, failed)
        return outcomes

    def _told(self, failed: threading.Event) -> None:
        failed.set()

    def _wait(self, thread: threading.Thread, failed: threading.Event) -> None:
        thread.join(1)


class GivesUpAtAFault(GivesUp):
    def _wait(self, thread: threading.Thread, failed: threading.Event) -> None:
        while thread.is_alive() and not failed.is_set():
            thread.join(0.01)


class StartsAnotherAtAFault(GivesUp):
    def _told(self, failed: threading.Event) -> None:
        threading.Thread(target=failed.wait, args=[2], daemon=True).start()

    def _wait(self, thread: threading.Thread, failed: threading.Event) -> None:
        thread.join()


def by_file(name: Callable[[str], str], calls: Any, tools: ToolBox) -> Any:
    """The reference, told another file for each path."""
    renamed = []
    for call in calls:
        path = s10.file_of(call)
        changed = (
            call if path is None else replace(call, arguments=json.dumps({"path": name(path)}))
        )
        renamed.append(changed)
    originals = iter(calls)
    return [[next(originals) for _ in group] for group in s10.groups_by_path(renamed, tools)]


def cut_at_eight(calls: Any, tools: ToolBox) -> Any:
    groups = s10.groups_by_path(calls, tools)
    return [group[n : n + 8] for group in groups for n in range(0, len(group), 8)]


def judging(judge: Callable[[Any, ToolBox], Any]) -> Any:
    """The reference, with another call in the place of each."""

    def groups_by_path(calls: Any, tools: ToolBox) -> Any:
        originals = iter(calls)
        groups = s10.groups_by_path([judge(call, tools) for call in calls], tools)
        return [[next(originals) for _ in group] for group in groups]

    return groups_by_path


def named(call: Any, path: str) -> Any:
    return replace(call, arguments=json.dumps({"path": path}))


def walked(call: Any, tools: ToolBox) -> Any:
    try:
        path = json.loads(call.arguments)["path"]
        return named(call, posixpath.normpath(path))
    except (ValueError, TypeError, KeyError, RecursionError):
        return call


def whole_words(call: Any, tools: ToolBox) -> Any:
    """A read is what is called one."""
    return call if call.name in ("read", "write") else replace(call, name="fiction")


def any_key(call: Any, tools: ToolBox) -> Any:
    return replace(call, arguments=call.arguments.replace("Path", "path"))


def empty_is_none(call: Any, tools: ToolBox) -> Any:
    return call if s10.file_of(call) else replace(call, arguments="")


def nothing_costs_nothing(events: Sequence[Event], prices: Prices) -> tuple[list[int | None], int]:
    costs, total = s11.bill_of(events, prices)
    return [cost or None for cost in costs], total


def completed_only(events: Sequence[Event], prices: Prices) -> tuple[list[int | None], int]:
    costs, _ = s11.bill_of(events, prices)
    statuses = [e.payload["status"] for e in events if e.type == "model.response"]
    kept = [
        cost if status == "completed" else None
        for cost, status in zip(costs, statuses, strict=True)
    ]
    return kept, sum(cost or 0 for cost in kept)


class DividesFloats(s11.TieredMoney):
    def _price(self, input_tokens: int, output_tokens: int) -> int:
        prices = self._long if input_tokens > self._threshold else self._short
        whole = input_tokens * prices.input_per_million + output_tokens * prices.output_per_million
        return math.ceil(whole / 1_000_000)


class NeverDearer(s11.TieredMoney):
    def cost(self, usage: Usage | None, reserved: int) -> int:
        cost = super().cost(usage, reserved)
        return min(cost, reserved) if reserved > 5 else cost


class LendsToItsParent(s11.Purse):
    def child(self, limit: int) -> s11.Purse:
        child = super().child(max(limit, 0))
        child._limit = limit
        return child


class NoRoomBelowZero(s11.Purse):
    def child(self, limit: int) -> s11.Purse:
        if limit < 0:
            raise BudgetError("below 0", resource="tokens")
        return super().child(limit)


class CountsRequests(s11.Purse):
    """Takes its meter's step to be a request."""

    def reserve(self, step: str, messages: Messages) -> None:
        super().reserve(self._meter.step if step == "request" else "other", messages)

    def settle(self, step: str, usage: Usage | None) -> None:
        super().settle(self._meter.step if step == "request" else "other", usage)


class TwoGenerations(s11.Purse):
    def close(self, depth: int = 0) -> None:
        orphans = [] if depth < 2 else self._children
        self._children = self._children if depth < 2 else []
        for child in list(self._children):
            assert isinstance(child, TwoGenerations)
            child.close(depth + 1)
        super().close()
        self._children += orphans

    def child(self, limit: int) -> s11.Purse:
        child = super().child(limit)
        child.__class__ = type(self)
        return child


def assembled(approver: Callable[[Sequence[str]], Any], last: int | None = None) -> Any:
    def assemble(
        model: Any, tool: Any, allowed: Any, store: Any, waiter: Any, recorder: Any, cancel: Any
    ) -> AgentRunner:
        runner = AgentRunner(
            RetryingModel(model, waiter, cancel, RetryPolicy(max_attempts=3)),
            ToolBox([tool]),
            AgentConfig(max_turns=4, max_tool_calls=6),
            history=store.replay.messages[-last:] if last else store.replay.messages,
            approver=approver(allowed),
            journal=store,
            cancel=cancel,
            recorder=recorder,
        )
        runner.start(store.session_id, resumed_from=store.session_id)
        return runner

    return assemble


class AnyCase(s12.ExactCommands):
    def decide(self, request: ApprovalRequest) -> Decision:
        lower = str(request.display.get("command")).lower()
        return super().decide(replace(request, display={"command": lower}))


class TheBeginning(s12.ExactCommands):
    def decide(self, request: ApprovalRequest) -> Decision:
        command = str(request.display.get("command"))
        whole = next((one for one in self._allowed if one[:200] == command[:200]), command)
        shown = whole if len(command) > 200 else command
        return super().decide(replace(request, display={"command": shown}))


class NoListNoRule(s12.ExactCommands):
    def decide(self, request: ApprovalRequest) -> Decision:
        if not self._allowed:
            return Decision("allow", "policy", "exact-commands", "nothing is forbidden")
        return super().decide(request)


Miss = tuple[Callable[[Any], None], object, str]
MISSES: dict[str, Miss] = {
    "s01.c the call of a completed answer is lost": (
        grade_cancellation,
        CALL_LOST,
        "an answer that asks for a tool has to record tool.call",
    ),
    "s01.d no usage": (
        grade_vendor,
        answering(lambda turn: replace(turn, usage=None)),
        "the tokens that the vendor counted",
    ),
    "s01.d usage swapped": (grade_vendor, answering(swap), "the tokens that the vendor counted"),
    "s01.d empty results left out": (
        grade_vendor,
        asking(lambda messages: [m for m in messages if m.content or m.tool_calls]),
        "function calls without a return",
    ),
    "s01.d one system prompt": (
        grade_vendor,
        asking(only_first_system),
        "both system prompts where there are two",
    ),
    "s01.d sealed items of calls only": (
        grade_vendor,
        asking(lambda ms: [m if m.tool_calls else replace(m, opaque=None) for m in ms]),
        "back in the next request, also without a call",
    ),
    "s01.d the first sealed item": (
        grade_vendor,
        answering(lambda turn: replace(turn, opaque=[*(turn.opaque or ())][:1])),  # type: ignore[misc]
        "the provider's own item back in the next request",
    ),
    "s02.b half a word at a fault": (grade_word_by_word, FlushesAtAFault, "what is whole"),
    "s02.d chunks as they were": (
        grade_masked_stream,
        LeavesTheChunks,
        "chunks without the secret",
    ),
    "s02.d opaque lost": (grade_masked_stream, losing(opaque=None), "opaque to stay as it was"),
    "s02.d usage lost": (grade_masked_stream, losing(usage=None), "usage to stay as it was"),
    "s02.d secrets stripped": (grade_masked_stream, StripsSecrets, "a beginning of"),
    "s03.a output stripped": (grade_pair_results, outputs(str.strip), "you say"),
    "s03.a output cut": (grade_pair_results, outputs(lambda text: text[:200]), "200 of"),
    "s03.b no words is no text": (grade_word_count, RefusesEmpty, "for '' a completed call"),
    "s03.d two dots in a name": (grade_read_file, RefusesDots, "a..b"),
    "s03.d names that begin alike": (grade_read_file, ComparesNames, "beside the directory"),
    "s03.d the path alone": (grade_read_file, ShowsThePathOnly, "a display that names"),
    "s03.d a directory by a link": (grade_read_file, TakesTheDirectoryAsItIs, "given as a link"),
    "s04.a reasons stripped": (
        grade_decisions_of,
        decided(lambda who, what, why: (who, what, why.strip())),
        "you say",
    ),
    "s04.a one word of the id": (
        grade_decisions_of,
        decided(lambda who, what, why: (" ".join(who.split()[:2]), what, why)),
        "you say",
    ),
    "s04.a the last question": (grade_decisions_of, of_the_last_question, "you say"),
    "s04.b another spelling": (grade_exact_commands, ResolvesTheDirectory, "spelt in another way"),
    "s04.b an empty list": (grade_exact_commands, SilentWithoutAList, "a denial .* with its cause"),
    "s04.b the beginning": (grade_exact_commands, ComparesTheBeginning, "a command of 5\\d+ char"),
    "s04.b the same request": (grade_exact_commands, RemembersTheRequest, "the very same request"),
    "s04.d six digits": (grade_render, renders_rounded, "two numbers that differ late"),
    "s05.a 64 KiB": (grade_save_points, one_block, "you have 0"),
    "s06.a at most three": (
        grade_open_calls,
        lambda records: dict(list(s06.open_calls(records).items())[:3]),
        "nothing of it",
    ),
    "s06.b at most five": (grade_recover, recovers_five, "has no result yet"),
    "s06.d one doubt": (grade_store, OnlyTheFirstDoubt, "unacknowledged"),
    "s06.d one acknowledges all": (grade_store, AcknowledgesAll, "once one is acknowledged"),
    "s06.d opaque lost": (grade_store, ForgetsOpaque, "sealed"),
    "s06.d turns that came later": (grade_store, TellsLaterTurns, "had ended when the store"),
    "s07.a each name once": (grade_outcome_of, each_name_once, "calls"),
    "s07.b up to 599": (grade_classify, below_600, "for status 600"),
    "s07.b a wait for a key": (grade_classify, waits_for_a_key, "retry_after_seconds None"),
    "s07.b waits of two": (grade_classify, waits_for_two, "retry_after_seconds 2.0"),
    "s07.b the status first": (grade_classify, status_first, "ContextOverflowError"),
    "s08.a at most three": (grade_attempts_of, at_most_three, "for answer"),
    "s08.b blank is no text": (grade_fallback, BlankIsNoText, "where the models do"),
    "s08.b any fault": (grade_fallback, AsksAnotherAtAnyFault, "ProtocolError"),
    "s08.b the first five": (grade_fallback, FirstFive, "the first 8 asked once each"),
    "s08.d rests from the request": (grade_circuit_breaker, FromTheRequest, "retry_after|nobody"),
    "s08.d tenths of a second": (grade_circuit_breaker, WholeTenths, "retry_after_seconds"),
    "s09.a until one completes": (grade_left_out, until_completed, "a request that failed, not"),
    "s09.b small for ever": (grade_keep_last_turns, StaysSmall, "fit number 5 of one policy"),
    "s09.b three times": (grade_keep_last_turns, TiresOfIt, "fit number 4 of one policy"),
    "s09.b another fault": (grade_keep_last_turns, RaisesAnother, "the very `overflow`"),
    "s09.d empty messages left out": (grade_requests_of, without_empty, "message|to show"),
    "s10.a by the clock": (grade_overlaps, by_the_clock, "the sequence tells"),
    "s10.a the latest three": (grade_overlaps, latest_three, "among the pairs"),
    "s10.b a pool of three": (grade_reads_together, PoolOfThree, "reads of one group"),
    "s10.b a second for each": (grade_reads_together, GivesUp, "as long as it takes"),
    "s10.b given up at a fault": (grade_reads_together, GivesUpAtAFault, "as long as it takes"),
    "s10.b a thread at a fault": (
        grade_reads_together,
        StartsAnotherAtAFault,
        "no thread left behind, also when a work raises",
    ),
    "s10.d any case": (grade_groups_by_path, partial(by_file, str.lower), "to join the group"),
    "s10.d all dots": (
        grade_groups_by_path,
        partial(by_file, lambda path: path.replace("/.../", "/")),
        "to join the group",
    ),
    "s10.d eight at most": (grade_groups_by_path, cut_at_eight, "another after 8 calls"),
    "s10.d two dots walked": (grade_groups_by_path, judging(walked), "nobody knows what one of"),
    "s10.d the name of the tool": (grade_groups_by_path, judging(whole_words), "to join the group"),
    "s10.d another key": (grade_groups_by_path, judging(any_key), '"Path": .* nobody knows what'),
    "s10.d no path": (grade_groups_by_path, judging(empty_is_none), '"path": ""} to join the'),
    "s11.a nothing is unknown": (grade_bill_of, nothing_costs_nothing, r"for response \d, .*: 0"),
    "s11.a completed only": (grade_bill_of, completed_only, "for response"),
    "s11.b floats divided": (grade_tiered_money, DividesFloats, "in whole numbers all the way"),
    "s11.b never dearer": (grade_tiered_money, NeverDearer, r"it is \d+ where \d+ were reserved"),
    "s11.d a debt for a child": (grade_purse, LendsToItsParent, r"child\(-1\) to raise ValueError"),
    "s11.d no room below 0": (grade_purse, NoRoomBelowZero, "but: .* raised BudgetError"),
    "s11.d requests only": (grade_purse, CountsRequests, 'a meter whose step is "call"'),
    "s11.d two generations": (grade_purse, TwoGenerations, "children of children of children"),
    "s12.b the beginning": (grade_assemble, assembled(TheBeginning), "'; date' at its end"),
    "s12.b any case": (grade_assemble, assembled(AnyCase), "the results"),
    "s12.b no list, no rule": (grade_assemble, assembled(NoListNoRule), "nothing allowed"),
    "s12.b the end of the history": (
        grade_assemble,
        assembled(s12.ExactCommands, last=4),
        "the roles of the first request",
    ),
}


@pytest.mark.parametrize("name", MISSES)
def test_a_close_miss_is_told(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grader_of_s10, "WAIT_SECONDS", 2)  # only ever waited for in vain
    grade, wrong, message = MISSES[name]
    with pytest.raises(AssertionError, match=message):
        grade(wrong)


def test_another_folder_for_each_call_is_what_the_reference_does() -> None:
    """The way in which `by_file` renames is no mistake by itself."""
    grade_groups_by_path(partial(by_file, lambda path: path))
