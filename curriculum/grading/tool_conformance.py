"""A conformance kit for tools: whatever implements `Tool` can be put through it.

A small harness (`tool_under_test`) builds the tool in a small world. The three steps are taken one
by one, and once more behind a real AgentRunner: a call that was refused at any step must have left
the world as it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from curriculum.core.errors import InvalidArgumentsError
from curriculum.core.seams import CancelToken
from curriculum.core.tools import RAN, Prepared, RunningCall, Tool, ToolResult
from curriculum.core.trace import to_json
from curriculum.grading.mistakes import collect, mistake, place, quote
from curriculum.grading.tool_under_test import (
    Answers,
    ToolUnderTest,
    bad_arguments,
    result_of,
    run_call,
)

__unittest = True

STEPS = 's03, "Step by step"'
INVARIANTS = 's03, "Invariants"'


def check_tool(under_test: ToolUnderTest) -> list[str]:
    """Put a tool through all checks that apply. Returns what is wrong: nothing, if it conforms."""
    checks = _Checks(under_test).all()
    if unknown := under_test.lacks.keys() - checks.keys():
        raise ValueError(f"lacks names no check of this kit: {sorted(unknown)}")
    return collect({n: c for n, c in checks.items() if n not in under_test.lacks}, STEPS)


class _Checks:
    """One method a check."""

    def __init__(self, under_test: ToolUnderTest) -> None:
        self._under_test = under_test

    def all(self) -> dict[str, Callable[[], None]]:
        """The checks by name, in the order of the three steps."""
        return {
            "definition": self.definition,
            "bad arguments": self.bad_arguments,
            "prepare changes nothing": self.prepare_changes_nothing,
            "display": self.display,
            "runs what was prepared": self.runs_what_was_prepared,
            "failure": self.failure,
            "bounded output": self.bounded_output,
            "denied": self.denied,
            "behind AgentRunner": self.behind_runner,
        }

    def _execute(self, tool: Tool, prepared: Prepared) -> ToolResult:
        running = RunningCall("call-1", CancelToken(), lambda stream, text: None)
        result = tool.execute(prepared, running)
        if not isinstance(result, ToolResult):
            raise mistake("execute to return a ToolResult", quote(result), STEPS)
        if result.status not in RAN:
            expected = f"a status of something that ran: {', '.join(RAN)}"
            raise mistake(expected, f"status {result.status!r}", STEPS)
        if not isinstance(result.output, str):
            raise mistake("output that is text", quote(result.output), STEPS)
        return result

    def definition(self) -> None:
        definition = self._under_test.build().definition
        descriptor = definition.descriptor()
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", definition.name):
            raise mistake("a name that providers accept", quote(definition.name), STEPS)
        if not definition.description.strip():
            raise mistake("a description that tells the model what it does", "nothing", STEPS)
        try:
            to_json(descriptor)
        except (TypeError, ValueError) as fault:
            raise mistake("a descriptor of plain JSON data", str(fault), STEPS) from fault
        schema = dict(definition.parameters)
        properties, required = schema.get("properties"), schema.get("required")
        if schema.get("type") != "object" or not isinstance(properties, dict):
            raise mistake("a JSON Schema of an object with properties", quote(schema), STEPS)
        if schema.get("additionalProperties") is not False:
            expected = "additionalProperties false: what prepare refuses, the schema forbids"
            raise mistake(expected, quote(schema), STEPS)
        fields = set(json.loads(self._under_test.good()))
        if not fields <= set(properties) or not isinstance(required, (list, tuple)):
            raise mistake(
                "every field in the schema, and a list of required ones", quote(schema), STEPS
            )
        if not set(required) <= set(properties):
            raise mistake("required fields that are properties", quote(schema), STEPS)

    def bad_arguments(self) -> None:
        tool = self._under_test.build()
        before = self._under_test.world()
        for wrong, raw in {
            **bad_arguments(self._under_test.good()),
            **self._under_test.bad(),
        }.items():
            try:
                prepared = tool.prepare(raw)
            except InvalidArgumentsError as refusal:
                if not str(refusal).strip():
                    saw = f"{wrong}: a refusal without a word"
                    raise mistake("a refusal the model can learn from", saw, STEPS) from None
                continue
            except Exception as fault:
                saw = f"{wrong}, {quote(raw, 60)}: {type(fault).__name__}: {fault}{place(fault)}"
                raise mistake("a refusal with InvalidArgumentsError", saw, STEPS) from fault
            saw = f"{wrong}, {quote(raw, 60)}: accepted, as {quote(dict(prepared.display))}"
            raise mistake("a refusal with InvalidArgumentsError", saw, STEPS)
        self._unchanged(before, "refused arguments")

    def _unchanged(self, before: object, what: str) -> None:
        after = self._under_test.world()
        if after == before:
            return
        saw = f"{quote(before)} became {quote(after)}"
        if isinstance(before, list) and isinstance(after, list):
            gone = [item for item in before if item not in after]
            new = [item for item in after if item not in before]
            saw = f"gone: {quote(gone)}, new: {quote(new)}"
        raise mistake(f"{what} to leave the world as it was", saw, INVARIANTS)

    def prepare_changes_nothing(self) -> None:
        tool = self._under_test.build()
        before = self._under_test.world()
        first, second = (tool.prepare(self._under_test.good()) for _ in range(2))
        self._unchanged(before, "prepare")
        if dict(first.display) != dict(second.display):
            saw = f"{quote(dict(first.display))}, then {quote(dict(second.display))}"
            raise mistake("the same call to be prepared in the same way", saw, STEPS)

    def display(self) -> None:
        tool = self._under_test.build()
        display = tool.prepare(self._under_test.good()).display
        fields = [*display.values()]
        for field in display.values():
            if isinstance(field, Mapping):
                fields += [*field.values()]
        scalars = (str, int, float, bool, type(None), Mapping)
        if not display or any(not isinstance(field, scalars) for field in fields):
            expected = "a display of JSON scalars or flat mappings, for people to read"
            raise mistake(expected, quote(dict(display)), STEPS)
        to_json(display)

    def runs_what_was_prepared(self) -> None:
        tool = self._under_test.build()
        plain = self._execute(tool, tool.prepare(self._under_test.good()))
        if plain.status != "completed":
            saw = f"status {plain.status!r}: {plain.output!r} {plain.notes}"
            raise mistake("a good call to complete", saw, STEPS)
        tool = self._under_test.build()
        prepared = tool.prepare(self._under_test.good())
        tool.prepare(self._under_test.failing())  # another call, prepared in between
        if isinstance(prepared.display, dict):
            for name in prepared.display:
                prepared.display[name] = "something else"
        again = self._execute(tool, prepared)
        if (again.status, again.output) != (plain.status, plain.output):
            saw = f"after another call was prepared and the display was changed: {quote(again)}"
            raise mistake(f"to run what was prepared, {quote(plain)}", saw, INVARIANTS)

    def failure(self) -> None:
        tool = self._under_test.build()
        prepared = tool.prepare(self._under_test.failing())
        expected = "an expected failure to be a result with status failed that says why"
        try:
            result = self._execute(tool, prepared)
        except AssertionError:
            raise
        except Exception as fault:
            saw = f"it raised {type(fault).__name__}: {fault}{place(fault)}"
            raise mistake(expected, saw, STEPS) from fault
        if result.status != "failed" or not (result.output or result.notes):
            raise mistake(expected, quote(result), STEPS)

    def bounded_output(self) -> None:
        arguments, whole, limit = self._under_test.flooding()
        tool = self._under_test.build()
        result = self._execute(tool, tool.prepare(arguments))
        size = len(result.output.encode())
        if not whole.startswith(result.output):
            saw = f"it ends in {result.output[-20:]!r}"
            raise mistake("output cut between two characters, never inside one", saw, STEPS)
        if size > limit:
            raise mistake(f"at most {limit} bytes of output", f"{size} bytes", STEPS)
        if not result.truncated:
            raise mistake("truncated to be set where output was cut", quote(result, 80), STEPS)
        if size < limit - 3:
            raise mistake(f"output up to the limit of {limit} bytes", f"{size} bytes", STEPS)

    def denied(self) -> None:
        tool, approver = self._under_test.build(), Answers("deny")
        before = self._under_test.world()
        run = run_call(tool, self._under_test.good(), approver)
        if result_of(run)["status"] != "denied":
            raise mistake("a denied call to be denied", quote(dict(result_of(run))), INVARIANTS)
        self._unchanged(before, "a denied call")

    def behind_runner(self) -> None:
        approver = Answers("allow")
        run = run_call(self._under_test.build(), self._under_test.good(), approver)
        result = result_of(run)
        if result["status"] != "completed":
            raise mistake("an allowed call to complete", quote(dict(result)), STEPS)
        types = [event.type for event in run.events if event.type.startswith("tool.")]
        if [type for type in types if type != "tool.output"] != [
            "tool.call",
            "tool.start",
            "tool.result",
        ]:
            raise mistake("one call, one start, one result", f"the trace shows {types}", INVARIANTS)
        for wrong, raw in bad_arguments(self._under_test.good(), thorough=False).items():
            approver = Answers("allow")
            run = run_call(self._under_test.build(), raw, approver)
            status = result_of(run)["status"]
            if status != "invalid_arguments" or approver.requests:
                saw = f"{wrong}: status {status!r}, {len(approver.requests)} questions"
                raise mistake("invalid_arguments, and nobody is asked", saw, INVARIANTS)
