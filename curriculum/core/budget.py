"""What a run may cost: limits on turns, calls, tokens, wall time and money, several at once.

Before a step, what it may cost at most is set aside; afterwards the reservation becomes what it
did cost. A step that does not fit is not begun. So a limit can be passed only by the one step whose
cost was estimated too low. What was set aside for a step that failed stays spent: nobody knows
what the provider counts.
"""

from __future__ import annotations

from curriculum.core.errors import BudgetError
from curriculum.core.values import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curriculum.core.messages import Message, Usage
    from curriculum.core.meters import Meter
    from curriculum.core.trace import Clock, Recorder

    Report = Mapping[str, int | str]


# region: limit
class Limit:
    """A budget of one resource: at most `limit` of what `meter` counts.

    Before a call there must also be room for the request that reads its result: what nobody can
    read is not begun. The other way round nothing is needed: an answer in words takes no call.
    """

    def __init__(self, meter: Meter, limit: int) -> None:
        if limit < 0:
            raise ValueError(f"the limit of {meter.resource} must be at least 0")
        self._meter, self._limit = meter, limit
        self._spent = 0
        self._reserved: list[int] = []

    def check(self, step: str, messages: Sequence[Message]) -> int | None:
        """What the step would set aside, if anything. Raises BudgetError if that is not there."""
        if step == "request":
            self._spent += sum(self._reserved)  # of steps that failed: they were never settled
            self._reserved.clear()
        if step == "request" and self._meter.step == "call":
            return None
        needed, report = self._meter.most(messages), self._report()
        if int(report["remaining"]) < needed:
            raise _refusal(step, self._meter.step, needed, report)
        return needed if step == self._meter.step else None

    def reserve(self, step: str, messages: Sequence[Message]) -> Report | None:
        """Set aside what the step may cost at most. Raises BudgetError if it is not there."""
        return self.take(self.check(step, messages))

    def take(self, needed: int | None) -> Report | None:
        """Set aside what `check` has found to be there."""
        if needed is None:
            return None
        self._reserved.append(needed)
        return self._report()

    def settle(self, step: str, usage: Usage | None) -> Report | None:
        """Replace the oldest reservation by what the step did cost."""
        if step != self._meter.step or not self._reserved:
            return None
        reserved = self._reserved.pop(0)
        self._spent += self._meter.cost(usage, reserved)
        return self._report()

    def _report(self) -> Report:
        meter = self._meter
        return _report(meter.resource, meter.unit, self._spent, self._limit, sum(self._reserved))


# endregion


# region: wall-time
class WallTime:
    """A budget of time: `limit_us` from the first step on, whoever is waited for.

    `step_us` is what a step may take at most, if something bounds it; 0 only asks whether any time
    is left. To end a step that is under way, take a deadline.
    """

    def __init__(self, clock: Clock, limit_us: int, step_us: int = 0) -> None:
        if limit_us < 0 or step_us < 0:
            raise ValueError("limit_us and step_us must be at least 0")
        self._clock, self._limit_us, self._step_us = clock, limit_us, step_us
        self._started_us: int | None = None

    def check(self, step: str, messages: Sequence[Message]) -> int:
        """What the step would set aside. Raises BudgetError if that is not there."""
        needed, report = max(self._step_us, 1), self._report(0)
        if int(report["remaining"]) < needed:
            raise _refusal(step, step, needed, report)
        return self._step_us

    def reserve(self, step: str, messages: Sequence[Message]) -> Report:
        """Say how much time is spent. Raises BudgetError if too little is left."""
        return self.take(self.check(step, messages))

    def take(self, needed: int | None) -> Report:
        """Time is not set aside, only shown: it passes by itself."""
        return self._report(needed or 0)

    def settle(self, step: str, usage: Usage | None) -> Report:
        return self._report(0)

    def _report(self, reserved: int) -> Report:
        now_us = self._clock.read()[1]
        if self._started_us is None:
            self._started_us = now_us
        return _report("wall_time", "us", now_us - self._started_us, self._limit_us, reserved)


# endregion


class Part(Protocol):
    """A budget in two halves: ask, then take."""

    def check(self, step: str, messages: Sequence[Message]) -> int | None:
        """What the step would set aside. Raises BudgetError if that is not there."""

    def take(self, needed: int | None) -> Report | None:
        """Set aside what `check` has found to be there."""

    def settle(self, step: str, usage: Usage | None) -> Report | None:
        """As in Budget."""


# region: all-of
class AllOf:
    """Several budgets at once: a step is begun if it fits in every one, else nothing is set aside.

    The loop takes one report a step, so the reports are recorded here, by the policy `budget`.
    """

    def __init__(self, parts: Sequence[Part], recorder: Recorder) -> None:
        self._parts, self._recorder = tuple(parts), recorder

    def reserve(self, step: str, messages: Sequence[Message]) -> None:
        """Ask all, then take from all. Raises the BudgetError of the first that refuses."""
        needs = [part.check(step, messages) for part in self._parts]
        for part, needed in zip(self._parts, needs, strict=True):
            self._record(part.take(needed))

    def settle(self, step: str, usage: Usage | None) -> None:
        for part in self._parts:
            self._record(part.settle(step, usage))

    def _record(self, report: Report | None) -> None:
        if report is not None:
            self._recorder.emit(
                "budget.spend", actor_kind="policy", actor_id="budget", payload=report
            )


# endregion


def _report(resource: str, unit: str, spent: int, limit: int, reserved: int) -> Report:
    """The payload of `budget.spend`. `remaining` falls below 0 once a limit is passed."""
    report: dict[str, int | str] = {
        "resource": resource,
        "unit": unit,
        "spent": spent,
        "limit": limit,
        "remaining": limit - spent - reserved,
    }
    if reserved:
        report["reserved"] = reserved
    return report


def _refusal(step: str, spender: str, needed: int, report: Report) -> BudgetError:
    what, left = report["resource"], max(0, int(report["remaining"]))
    of = f"{left} left of {report['limit']} {report['unit']}"
    if step == spender:
        said = f"{what}: up to {needed} needed for the {step}, {of}"
    else:
        said = f"{what}: up to {needed} needed for the {spender} after the {step}, {of}"
    return BudgetError(said, **{**report, "needed": needed})
