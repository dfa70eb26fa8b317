"""The kit for whole agents finds what it should: the reference passes, others do not."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from curriculum.core.approval import ApprovalRequest, HumanApprover
from curriculum.core.journal import MemoryJournal
from curriculum.core.loop import AgentConfig, AgentRunner
from curriculum.core.retry import RetryingModel, RetryPolicy
from curriculum.core.tools import ToolBox
from curriculum.core.waiting import VirtualTime
from curriculum.grading.agent_conformance import check_agent
from curriculum.lessons.s12_mino.solutions import Agent
from curriculum.tools.bash import Bash


def test_the_reference_passes() -> None:
    assert check_agent(Agent) == []


class Rebuilt(Agent):
    """The reference, its runner built again with something else in one place."""

    changes: Callable[[Rebuilt], dict[str, Any]] = staticmethod(lambda agent: {})
    grants = False

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        old = self._runner
        del self._recorder.events[:]
        self._recorder.count = 0
        parts: dict[str, Any] = {
            "model": old.model,
            "config": old.config,
            "history": self._store.replay.messages,
            "approver": HumanApprover(self._question),
            "journal": self._store,
            "cancel": old.cancel,
            "recorder": self._recorder,
        } | type(self).changes(self)
        tools = ToolBox([Bash.here()], granted=["bash"] if self.grants else [])
        self._runner = AgentRunner(parts.pop("model"), tools, parts.pop("config"), **parts)
        self._runner.start(self._store.session_id)


class Grants(Rebuilt):
    """Asks nobody."""

    grants = True


class Forgets(Rebuilt):
    """Knows nothing of earlier runs."""

    changes = staticmethod(lambda agent: {"history": ()})


class InMemory(Rebuilt):
    """Saves nothing."""

    changes = staticmethod(lambda agent: {"journal": MemoryJournal()})


class Endless(Rebuilt):
    """May ask a hundred times."""

    changes = staticmethod(lambda agent: {"config": AgentConfig(100, 100)})


class NoRetries(Rebuilt):
    """Gives up at once."""

    changes = staticmethod(lambda agent: {"model": agent._runner.model._model})  # type: ignore[attr-defined]


class OwnTime(Rebuilt):
    """Waits by its own clock instead of the waiter."""

    changes = staticmethod(
        lambda agent: {
            "model": RetryingModel(
                agent._runner.model._model,  # type: ignore[attr-defined]
                VirtualTime(),
                agent._runner.cancel,
                RetryPolicy(max_attempts=3),
            )
        }
    )


class Prefix(Agent):
    """Takes whatever begins with y for a yes."""

    def _question(self, request: ApprovalRequest) -> str | None:
        line = super()._question(request)
        return "y" if line and line.strip().lower().startswith("y") else line


class YesForAll(Agent):
    """One yes is good for all commands that follow."""

    said = ""

    def _question(self, request: ApprovalRequest) -> str | None:
        self.said = self.said or (super()._question(request) or "")
        return self.said


class RawQuestion(Agent):
    """Shows the command as it is."""

    def _question(self, request: ApprovalRequest) -> str | None:
        display = request.display
        return self._ask(f"{display['command']} in {display['directory']}? [y/N]")


class Summary(Agent):
    """Asks about the beginning of a command."""

    def _question(self, request: ApprovalRequest) -> str | None:
        words = json.dumps(str(request.display["command"]).split())
        return self._ask(f"{words} in {request.display['directory']}? [y/N]")


class RawScreen(Agent):
    """Shows text as it came."""

    def turn(self, text: str) -> str:
        answer = super().turn(text)
        self._show(answer)
        return answer


class EscapedAnswer(Agent):
    """Gives programs what is meant for screens."""

    def turn(self, text: str) -> str:
        return ascii(super().turn(text))[1:-1]


class Silent(Agent):
    """Says nothing when a turn fails."""

    def turn(self, text: str) -> str:
        self._last = self._runner.turn(text)
        if not self._last.error:
            self._show(f"Assistant> {self._last.final_text!a}")
        return self._last.final_text


class NoNotice(Agent):
    """Keeps a crash to itself."""

    def __init__(self, model: Any, home: str, session: str, ask: Any, show: Any, w: Any) -> None:
        super().__init__(model, home, session, ask, lambda text: None, w)
        self._show = show


class StopsTwice(Agent):
    """Ends the run whenever it is closed."""

    def close(self) -> None:
        self._recorder.emit(
            "session.stop", actor_kind="harness", actor_id="a", payload={"reason": "completed"}
        )
        self._store.close()


class OneTurn(Agent):
    """Is over when its first turn has failed."""

    def turn(self, text: str) -> str:
        if self._last.error:
            return ""
        return super().turn(text)


WRONG: dict[type[Agent], tuple[str, ...]] = {
    Grants: ("only yes", "the question"),
    Forgets: ("resume",),
    InMemory: ("save points", "resume"),
    Endless: ("bounds",),
    NoRetries: ("asks again",),
    OwnTime: ("asks again",),
    Prefix: ("only yes",),
    YesForAll: ("only yes",),
    RawQuestion: ("the question",),
    Summary: ("the question",),
    RawScreen: ("harmless on the screen",),
    EscapedAnswer: ("harmless on the screen",),
    Silent: ("not after text",),
    NoNotice: ("after a crash",),
    StopsTwice: ("the trace",),
    OneTurn: ("not after text", "Ctrl+C"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_agents_are_told_why(wrong: type[Agent]) -> None:
    found = {finding.split(":")[0] for finding in check_agent(wrong)}
    assert found >= set(WRONG[wrong]), found
