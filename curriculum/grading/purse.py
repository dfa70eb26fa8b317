"""Grader of s11 D: a purse shared with child work, against a model of one over random steps."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Protocol

from curriculum.core.errors import BudgetError
from curriculum.core.loop import AgentRunner
from curriculum.core.messages import Message, ModelTurn, ToolCall, Usage
from curriculum.core.meters import Calls, Meter, Tokens
from curriculum.core.model import ScriptedModel
from curriculum.core.tools import Prepared, RunningCall, ToolBox, ToolDefinition, ToolResult
from curriculum.grading.mistakes import attempt, mistake

__unittest = True

DESIGN = 's11, "Exercises", D'


class PurseUnderTest(Protocol):
    """What the exercise asks for."""

    @property
    def remaining(self) -> int:
        """What is neither spent, reserved nor handed out."""

    def reserve(self, step: str, messages: Sequence[Message]) -> Mapping[str, object] | None:
        """Set aside."""

    def settle(self, step: str, usage: Usage | None) -> Mapping[str, object] | None:
        """Replace the latest reservation."""

    def child(self, limit: int) -> PurseUnderTest:
        """Hand out a part."""

    def close(self) -> None:
        """End it; the rest comes back."""


MakePurse = Callable[[Meter, int], PurseUnderTest]


class _Expected:
    """A purse as the exercise words it, in plain numbers."""

    def __init__(self, limit: int, parent: _Expected | None = None) -> None:
        self.limit, self.parent = limit, parent
        self.spent, self.reserved = 0, list[int]()
        self.children: list[_Expected] = []
        self.closed = False

    @property
    def remaining(self) -> int:
        """What is left to take."""
        if self.closed:
            return 0
        handed_out = sum(child.limit for child in self.children)
        return self.limit - self.spent - sum(self.reserved) - handed_out

    def close(self) -> None:
        """Children first; then what was used is the parent's."""
        if self.closed:
            return
        for child in list(self.children):
            child.close()
        used = self.spent + sum(self.reserved)
        self.closed = True
        if self.parent:
            self.parent.children.remove(self)
            self.parent.spent += used


def grade_purse(make: MakePurse) -> None:
    """D. Random steps on a growing tree of purses, then real runners that share one."""
    with attempt("Purse", DESIGN):
        for seed in range(60):
            _check_steps(make, random.Random(seed))
        _check_no_debt(make)
        _check_calls(make)
        _check_generations(make)
        _check_runs(make)


def _check_steps(make: MakePurse, rng: random.Random) -> None:
    size = {"now": 0}
    meter = Tokens(10, lambda messages: size["now"])
    limit = rng.randrange(50, 500)
    purses, expected = [make(meter, limit)], [_Expected(limit)]
    history = [f"Purse({limit})"]
    for _ in range(60):
        number = rng.randrange(len(purses))
        purse, wanted = purses[number], expected[number]
        kind = rng.choice(["reserve", "reserve", "settle", "settle", "child", "close", "other"])
        amount = rng.randrange(60)
        refused = False
        told = f"{kind} on purse {number}"
        if kind == "reserve":
            size["now"] = amount
            told = f"purse {number}.reserve({amount + 10})"
            refused = wanted.closed or amount + 10 > wanted.remaining
            if not refused:
                wanted.reserved.append(amount + 10)
            _expect(partial(purse.reserve, "request", ()), refused, history, told)
        elif kind == "settle":
            usage = rng.choice([None, Usage(amount, 1)])
            told = f"purse {number}.settle({usage})"
            if wanted.reserved and not wanted.closed:
                cost = wanted.reserved.pop()
                wanted.spent += amount + 1 if usage else cost
            _expect(partial(purse.settle, "request", usage), False, history, told)
        elif kind == "child" and len(purses) < 8:
            told = f"purse {number}.child({amount}) as purse {len(purses)}"
            refused = wanted.closed or amount > wanted.remaining
            made = _expect(partial(purse.child, amount), refused, history, told)
            if not refused:
                child = _Expected(amount, wanted)
                wanted.children.append(child)
                purses.append(made)  # type: ignore[arg-type]
                expected.append(child)
        elif kind == "close" and (number or rng.random() < 0.1):
            told = f"purse {number}.close()"
            wanted.close()
            _expect(purse.close, False, history, told)
        elif kind == "other":
            told = f'a step "call" on purse {number}'
            _expect(partial(purse.reserve, "call", ()), wanted.closed, history, told)
            _expect(partial(purse.settle, "call", None), False, history, told)
        history.append(told + (" (refused)" if refused else ""))
        for one, (mine, theirs) in enumerate(zip(purses, expected, strict=True)):
            if mine.remaining != theirs.remaining:
                said = f"{theirs.remaining} left in purse {one} after: {_tail(history)}"
                raise mistake(said, f"remaining is {mine.remaining!r}", DESIGN)


def _expect(act: Callable[[], object], refused: bool, history: Sequence[str], told: str) -> object:
    """What the step returned, unless it was to be refused."""
    try:
        returned = act()
    except BudgetError as fault:
        if not refused:
            said = f"{told} to be possible after: {_tail(history)}"
            raise mistake(said, f"it raised BudgetError: {fault}", DESIGN) from fault
        return None
    if refused:
        said = f"{told} to be refused with BudgetError after: {_tail(history)}"
        raise mistake(said, "nothing was raised", DESIGN)
    return returned


def _tail(history: Sequence[str]) -> str:
    return "; ".join(history[-6:])


def _check_no_debt(make: MakePurse) -> None:
    """A child below 0 would make its parent richer."""
    purse = make(Tokens(10, lambda messages: 0), 100)
    for limit in (-1, -1000):
        expected, saw = f"child({limit}) to raise ValueError", "nothing was raised"
        try:
            purse.child(limit)
        except ValueError:
            saw = ""
        except BudgetError:
            saw = "it raised BudgetError"
        if saw or purse.remaining != 100:
            saw += f"; {purse.remaining} of 100 remaining"
            raise mistake(f"{expected}, and nothing to change", saw.removeprefix("; "), DESIGN)


def _check_calls(make: MakePurse) -> None:
    """The step is that of the meter, whichever it is."""
    purse, left = make(Calls(), 3), [3]
    for act in (purse.reserve, purse.settle):
        for step in ("request", "call"):
            if act == purse.reserve:
                purse.reserve(step, ())
            else:
                purse.settle(step, Usage(40, 10))
            left.append(purse.remaining)
    if left != [3, 3, 2, 2, 2]:
        expected = 'with a meter whose step is "call", remaining to go 3, 3, 2, 2, 2 as a request'
        expected += " and a call are reserved, then settled"
        raise mistake(expected, f"it goes {', '.join(map(str, left))}", DESIGN)


def _check_generations(make: MakePurse) -> None:
    """Each the child of the one before; the second is closed, and so are all that come after."""
    purses = [make(Tokens(10, lambda messages: 0), 1000)]
    for number in range(1, 8):
        purses.append(purses[-1].child(1000 - 100 * number))
        purses[-1].reserve("request", ())
    purses[1].close()
    left = [purse.remaining for purse in purses]
    if left != [930, 0, 0, 0, 0, 0, 0, 0]:
        expected = "children of children of children to be closed too, and their 7 reservations of"
        expected += " 10 to be spent: remaining 930 and then 0 seven times"
        raise mistake(expected, f"the purses, each a child of the one before, have {left}", DESIGN)
    for purse in purses[1:]:
        _expect(partial(purse.reserve, "request", ()), True, ["purse 1.close()"], "reserve")


class _Delegate:
    """A tool that lets a child agent work, with a part of the purse."""

    definition = ToolDefinition("delegate", "Delegates.", {"type": "object"})

    def __init__(self, purse: PurseUnderTest, asked: list[int]) -> None:
        self._purse, self._asked = purse, asked

    def prepare(self, arguments: str) -> Prepared:
        return Prepared({}, None)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        part = self._purse.child(300)
        turns = [_asks(f"child-{number}", Usage(40, 10)) for number in range(9)]
        result = AgentRunner(ScriptedModel(turns), budget=part).run("a part of it")
        self._asked.append(sum(event.type == "model.request" for event in result.events))
        part.close()
        return ToolResult("completed", result.stop_reason)


def _asks(call_id: str, usage: Usage) -> ModelTurn:
    return ModelTurn(tool_calls=(ToolCall(call_id, "delegate"),), usage=usage)


def _check_runs(make: MakePurse) -> None:
    """Each request sets aside 150 and spends 50: a child of 300 makes four, and gives 100 back."""
    purse, asked = make(Tokens(100, lambda messages: 50), 1000), list[int]()
    turns = [_asks(f"parent-{number}", Usage(40, 10)) for number in range(4)]
    tools = ToolBox([_Delegate(purse, asked)], ["delegate"])
    model = ScriptedModel([*turns, ModelTurn("done", usage=Usage(40, 10))])
    result = AgentRunner(model, tools, budget=purse).run("go")
    spent = 50 * (sum(event.type == "model.request" for event in result.events) + sum(asked))
    if asked != [4, 4, 4] or 1000 - purse.remaining != spent:
        expected = "three children of four requests each, then no room for a fourth child"
        saw = f"children asked {asked}, {spent} spent, {purse.remaining} of 1000 remaining"
        raise mistake(expected, saw, DESIGN)
