"""Graders of s03 A and B: calls and their one result, and a tool tried behind real runners."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence

from curriculum.core.approval import ApprovalRequest, Decision
from curriculum.core.loop import AgentConfig, AgentRunner, RunResult
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.seams import CancelToken
from curriculum.core.tools import RunningCall, Tool, ToolBox
from curriculum.core.trace import Event
from curriculum.grading.mistakes import attempt, mistake, quote
from curriculum.grading.result_status import Probe, probe_call
from curriculum.grading.tool_under_test import Answers, bad_arguments, result_of, run_call

__unittest = True

OBSERVE = 's03, "Run it and observe it"'
STEPS = 's03, "Step by step"'
INVARIANTS = 's03, "Invariants"'


Pairs = Mapping[str, tuple[str, str] | None]


def grade_pair_results(pair_results: Callable[[Sequence[Event]], Pairs]) -> None:
    """A. Traces with every status; also the beginning of one, where a call is still open."""
    for seed in range(3):
        for run in _runs_of_all_statuses(random.Random(seed)):
            for size in {len(run.events), len(run.events) * 2 // 3, len(run.events) // 2, 2}:
                _check_pairs(pair_results, run.events[:size])
            _check_pairs(pair_results, _results_reversed(run.events))


def _results_reversed(events: Sequence[Event]) -> list[Event]:
    """The same events, their results in the opposite order, as when calls overlap (s10)."""
    results = [event for event in events if event.type == "tool.result"]
    return [results.pop() if event.type == "tool.result" else event for event in events]


def _runs_of_all_statuses(rng: random.Random) -> Iterator[RunResult]:
    ids = [f"id-{number}" for number in rng.sample(range(10**6), 9)]

    class OnlyWork(Answers):
        def decide(self, request: ApprovalRequest) -> Decision:
            decision = super().decide(request)
            return Decision("deny", "user", "me") if request.display["do"] == "deny" else decision

    word = f" word-{rng.randrange(10**6)} \n"
    batch = [
        probe_call(ids[0], "work", word),
        probe_call(ids[1], "fail", f"no {word}"),
        probe_call(ids[2], "deny"),
        ToolCall(ids[3], "probe", "{}"),
        ToolCall(ids[4], "fiction"),
        probe_call(ids[5], "work", word * 40),
    ]
    rng.shuffle(batch)
    last = (probe_call(ids[6], "work"),)
    scripts = [
        [ModelTurn(tool_calls=tuple(batch)), ModelTurn(tool_calls=last)],
        [ModelTurn(tool_calls=(probe_call(ids[7], "bug"), probe_call(ids[8], "work")))],
    ]
    for turns in scripts:
        config = AgentConfig(max_turns=2)
        tools = ToolBox([Probe()])
        approver = OnlyWork("allow")
        yield AgentRunner(ScriptedModel(turns), tools, config, approver=approver).run("go")


def _check_pairs(pair_results: Callable[[Sequence[Event]], Pairs], events: Sequence[Event]) -> None:
    wanted: dict[str, tuple[str, str] | None] = {}
    for event in events:
        if event.type == "tool.call":
            wanted[str(event.payload["call_id"])] = None
        if event.type == "tool.result":
            payload = event.payload
            wanted[str(payload["call_id"])] = (str(payload["status"]), str(payload["output"]))
    with attempt("pair_results", OBSERVE):
        got = pair_results(events)
    if not isinstance(got, Mapping):
        raise mistake("a dict from call_id to (status, output)", quote(got), OBSERVE)
    for call_id, pair in wanted.items():
        if call_id not in got:
            saw = "your result does not know that call"
            raise mistake(f"for {call_id!r}: {pair}", saw, OBSERVE)
        mine = got[call_id]
        if (tuple(mine) if isinstance(mine, list) else mine) != pair:
            owner = next((i for i, other in wanted.items() if other and other == mine), "")
            whose = f", which is the result of {owner!r}" if owner else ""
            status = "still open: None" if pair is None else quote(pair)
            whose = whose or _is_cut(pair, mine)
            raise mistake(f"for {call_id!r} {status}", f"you say {quote(mine)}{whose}", OBSERVE)
    if extra := sorted(map(str, set(got) - set(wanted))):
        raise mistake("only calls of this trace", f"you also have {extra}", OBSERVE)


def _is_cut(pair: tuple[str, str] | None, mine: object) -> str:
    """What to say of a result whose output was cut: both texts are too long to be shown."""
    output = str(mine[1]) if isinstance(mine, (list, tuple)) and len(mine) == 2 else ""
    if pair is None or not output or len(output) >= len(pair[1]):
        return ""
    return f": {len(output)} of the {len(pair[1])} characters of the output"


def grade_word_count(word_count: Callable[[], Tool]) -> None:
    """B. Behind a real runner: descriptor, refusals, question, start, one paired result."""
    rng = random.Random(4)
    with attempt("WordCount", STEPS):
        _check_definition(word_count())
        for words in (0, 1, 2, 17):
            _check_count(word_count(), rng, words)
        _check_count(word_count(), rng, 0, end="")
        _check_refusals(word_count)
        _check_steps(word_count())


def _check_definition(tool: Tool) -> None:
    descriptor, schema = tool.definition.descriptor(), tool.definition.parameters
    if descriptor["name"] != "word_count":
        raise mistake("a tool named word_count", quote(descriptor["name"]), STEPS)
    if not str(descriptor["description"]).strip():
        raise mistake("a description for the model", "an empty one", STEPS)
    properties, required = schema.get("properties"), schema.get("required")
    field = properties.get("text") if isinstance(properties, Mapping) else None
    if not (
        schema.get("type") == "object"
        and isinstance(properties, Mapping)
        and list(properties) == ["text"]
        and isinstance(field, Mapping)
        and field.get("type") == "string"
        and isinstance(required, (list, tuple))
        and list(required) == ["text"]
        and schema.get("additionalProperties") is False
    ):
        expected = "a JSON Schema of an object: one required string `text`, nothing else allowed"
        raise mistake(expected, quote(dict(schema)), STEPS)


def _check_count(tool: Tool, rng: random.Random, words: int, end: str | None = None) -> None:
    gaps = [" ", "  ", "\n", "\t", "\u3000"]
    text = "".join(f"{rng.choice(gaps)}w\u00f6rt-{rng.randrange(100)}" for _ in range(words))
    text += rng.choice(gaps) if end is None else end
    call_id, approver = f"id-{rng.randrange(10**6)}", Answers("allow")
    run = run_call(tool, json.dumps({"text": text}), approver, call_id=call_id)
    result = result_of(run, call_id)
    if (result["status"], result["output"]) != ("completed", str(words)):
        saw = f"the trace shows {dict(result)}"
        raise mistake(f"for {text!r} a completed call with output {str(words)!r}", saw, STEPS)
    shown = [dict(request.display) for request in approver.requests]
    if shown != [{"text": text}]:
        expected = f"one question, with the display {{'text': {text!r}}}"
        raise mistake(expected, f"the approver was shown {quote(shown)}", STEPS)
    order = [e.type for e in run.events if e.payload.get("call_id") == call_id]
    wanted = ["tool.call", "approval.request", "approval.decision", "tool.start", "tool.result"]
    if [type for type in order if type != "tool.output"] != wanted:
        raise mistake(f"the order {wanted}", f"the trace shows {order}", INVARIANTS)
    if order.count("tool.output"):
        raise mistake("the count as result only", "the trace also has tool.output", STEPS)


def _check_refusals(word_count: Callable[[], Tool]) -> None:
    for wrong, raw in bad_arguments('{"text": "to be"}', thorough=False).items():
        approver = Answers("allow")
        run = run_call(word_count(), raw, approver)
        result = result_of(run)
        types = [event.type for event in run.events]
        if result["status"] != "invalid_arguments":
            expected = f"arguments with {wrong}, {raw!r}, to be refused as invalid_arguments"
            raise mistake(expected, f"the trace shows {dict(result)}", STEPS)
        if approver.requests or "tool.start" in types:
            raise mistake("refused arguments to reach nobody", f"{types}", INVARIANTS)
        if not result["output"]:
            raise mistake("a refusal that tells the model what is wrong", f"{wrong}: ''", STEPS)


def _check_steps(tool: Tool) -> None:
    """What was prepared is what runs, whatever else is prepared before it does."""
    first, second = (tool.prepare(json.dumps({"text": text})) for text in ("a b c", "d"))
    outputs = []
    for prepared in (second, first, second):
        running = RunningCall("call-1", CancelToken(), lambda stream, text: None)
        outputs.append(tool.execute(prepared, running).output)
    if outputs != ["1", "3", "1"]:
        expected = "execute to run what was prepared: 'd', 'a b c', 'd' are 1, 3, 1 words"
        raise mistake(expected, f"{outputs}: does the tool keep the last call?", INVARIANTS)
    approver = Answers("deny")
    result = result_of(run_call(tool, '{"text": "a"}', approver))
    if result["status"] != "denied" or result["output"] == "1":
        raise mistake("a denied call to be denied", f"{dict(result)}", INVARIANTS)
