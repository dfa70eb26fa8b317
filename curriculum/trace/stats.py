"""What a run was made of: turns, calls, time and tokens, counted while the trace is read.

Memory does not grow with the trace: everything is a count, a sum or a `Series`, and of names that
the trace chooses (tools, kinds of error) only the first so many are told apart.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from curriculum.trace.prices import ANY, Price, round_up
from curriculum.trace.series import Series

Event = dict[str, Any]

MOST_NAMES = 200
OTHERS = "(others)"
PHASES = ("model", "tools", "approval", "retry", "harness")
STARTED = frozenset({"completed", "failed", "unknown"})


class Phases:
    """Whose time it is. An interval between two events belongs to what the first left going on.

    Of two things at once the first of: the model is asked, a tool acts, somebody decides, a retry
    is waited for. The rest is the harness's own. A harness may record the next attempt before it
    waits; so the first `wait_us` after a retry.wait are waiting, whatever was recorded meanwhile,
    until the attempt gives its first sign.
    """

    def __init__(self) -> None:
        self.spent_us = dict.fromkeys(PHASES, 0)
        self._before_us = 0
        self._asked = self._waiting = False
        self._acting = self._questions = self._owed_us = 0
        self.waited_us = 0  # since the latest model.request, before its first sign

    def move(self, event: Event) -> None:
        """The next event."""
        now, kind = event["elapsed_us"], event["type"]
        passed = max(0, now - self._before_us)
        waited = min(passed, self._owed_us)
        self._owed_us -= waited
        self.waited_us += waited
        self.spent_us["retry"] += waited
        self.spent_us[self._phase()] += passed - waited
        self._before_us = now
        if kind == "model.request":
            self._asked, self._waiting, self.waited_us = True, False, 0
        elif kind in ("model.delta", "model.response"):
            self._asked, self._owed_us = kind == "model.delta", 0
        elif kind == "retry.wait":
            self._waiting, self._owed_us = True, event["payload"]["wait_us"]
        elif kind == "approval.request":
            self._questions += 1
        elif kind == "approval.decision":
            self._questions = max(0, self._questions - 1)
        elif kind == "tool.start":
            self._acting += 1
        elif kind == "tool.result" and event["payload"]["status"] in STARTED:
            self._acting = max(0, self._acting - 1)
        elif kind in ("user.message", "session.stop"):
            self._asked = self._waiting = False
            self._acting = self._questions = self._owed_us = 0

    def _phase(self) -> str:
        if self._asked:
            return "model"
        if self._acting:
            return "tools"
        if self._questions:
            return "approval"
        return "retry" if self._waiting else "harness"


class Stats:
    """Counts one trace, event by event. Prices are of micro-dollars per million tokens."""

    def __init__(self, prices: dict[str, Price] | None = None) -> None:
        self._prices = prices
        self._model = ""
        self._cost = 0
        self._unpriced: Counter[str] = Counter()
        self._asked_us = 0
        self.events = self.turns = self.requests = self.deltas = 0
        self.types: Counter[str] = Counter()
        self.responses: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self.tools: Counter[str] = Counter()
        self.decisions: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.input_tokens = self.output_tokens = self.unmetered = 0
        self.phases = Phases()
        self.elapsed_us = 0
        self.stop = ""
        self.answer_us, self.answer_tokens = Series(), Series()

    def take(self, event: Event) -> None:
        """The next event."""
        kind, payload = event["type"], event["payload"]
        self.events += 1
        self.elapsed_us = event["elapsed_us"]
        _count(self.types, kind)
        self.phases.move(event)
        if kind == "model.delta":
            self.deltas += 1
        elif kind == "session.start":
            self._model = payload.get("model", "")
        elif kind == "user.message":
            self.turns += 1
        elif kind == "model.request":
            self.requests += 1
            self._asked_us = event["elapsed_us"]
        elif kind == "model.response":
            self._answer(event, payload)
        elif kind == "tool.call":
            _count(self.tools, payload["name"])
        elif kind == "tool.result":
            self.calls[payload["status"]] += 1
        elif kind == "approval.decision":
            self.decisions[payload["decision"]] += 1
        elif kind == "error":
            _count(self.errors, payload["kind"])
        elif kind == "session.stop":
            self.stop = payload["reason"]

    def _answer(self, event: Event, payload: Event) -> None:
        self.responses[payload["status"]] += 1
        taken_us = event["elapsed_us"] - self._asked_us - self.phases.waited_us
        self.answer_us.add(max(0, taken_us))
        usage = payload.get("usage")
        if usage is None:
            self.unmetered += 1
            return
        spent = usage["input_tokens"], usage["output_tokens"]
        self.input_tokens += spent[0]
        self.output_tokens += spent[1]
        self.answer_tokens.add(sum(spent))
        if self._prices is not None:
            model = self._model or event["actor"]["id"]
            price = self._prices.get(model) or self._prices.get(ANY)
            if price:
                self._cost += price.of(*spent)
            else:
                _count(self._unpriced, model)

    def as_data(self) -> dict[str, Any]:
        """Everything that was counted, as plain data; times in µs, cost in micro-dollars."""
        data: dict[str, Any] = {
            "events": self.events,
            "types": dict(self.types.most_common()),
            "model": self._model or None,
            "stop": self.stop or None,
            "turns": self.turns,
            "requests": self.requests,
            "responses": dict(self.responses.most_common()),
            "deltas": self.deltas,
            "calls": sum(self.tools.values()),
            "calls_by_status": dict(self.calls.most_common()),
            "calls_by_tool": dict(self.tools.most_common()),
            "decisions": dict(self.decisions.most_common()),
            "errors": dict(self.errors.most_common()),
            "elapsed_us": self.elapsed_us,
            "time_us": self.phases.spent_us,
            "tokens": {"input": self.input_tokens, "output": self.output_tokens},
            "responses_without_usage": self.unmetered,
            "answer_us": self.answer_us.means,
            "answer_tokens": self.answer_tokens.means,
        }
        if self._prices is not None:
            data["cost_micro_dollars"] = round_up(self._cost)
            data["models_without_price"] = dict(self._unpriced)
        return data


def _count(counter: Counter[str], name: str) -> None:
    counter[name if name in counter or len(counter) < MOST_NAMES else OTHERS] += 1
