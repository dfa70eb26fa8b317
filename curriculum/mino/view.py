"""Events of a run as a person sees them. It only shows: nothing here decides or keeps anything.

The text of an answer is shown as it arrives. What was asked about is shown by `question`; here
stand the results, the retries and the reasons why a turn ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from curriculum.core.trace import Event
from curriculum.mino.context import POLICY
from curriculum.mino.question import brief, field_lines, one_line, tool_line
from curriculum.mino.screen import Screen
from curriculum.mino.spending import Spending, refusal_line


class View:
    """Shows the events of a conversation.

    `chat`: what the model says is shown too, and somebody else shows what is asked about.
    """

    def __init__(self, screen: Screen, chat: bool = True) -> None:
        self._screen = screen
        self._chat = chat
        self._tools: dict[str, str] = {}
        self._asked: set[str] = set()
        self._started: dict[str, Mapping[str, Any]] = {}
        self._left_out: Mapping[str, Any] = {}
        self._spending = Spending()
        self._has_text = False
        self._show: dict[str, Callable[[Mapping[str, Any]], None]] = {
            "user.message": self._begin,
            "budget.spend": self._spending.spend,
            "tool.call": self._call,
            "tool.start": self._start,
            "approval.request": self._approval,
            "approval.decision": self._decision,
            "tool.result": self._result,
            "retry.wait": self._retry,
            "context.compact": self._compact,
            "error": self._error,
        }
        if chat:
            self._show |= {
                "model.request": self._request,
                "model.delta": self._delta,
                "model.response": self._response,
            }

    def show(self, event: Event) -> None:
        """Show one event, if there is anything to see."""
        if show := self._show.get(event.type):
            show(event.payload)

    def turn_ended(self) -> None:
        """Say what the turn has cost, if there is a budget."""
        for line in self._spending.lines():
            self._screen.say(line)

    def _begin(self, payload: Mapping[str, Any]) -> None:
        self._spending.begin_turn()

    # region: answer
    def _request(self, payload: Mapping[str, Any]) -> None:
        self._has_text = False
        self._screen.blank()
        self._screen.label("Assistant>", "bold")

    def _delta(self, payload: Mapping[str, Any]) -> None:
        blank = "" if self._has_text else " "
        self._screen.text(blank + payload["text"], words=True)
        self._has_text = True

    def _response(self, payload: Mapping[str, Any]) -> None:
        content, status = payload["content"], payload["status"]
        if content and not self._has_text:
            self._screen.text(f" {content}", words=True)
        self._screen.end()
        if status == "completed" and not content and not payload["tool_calls"]:
            self._screen.say("[The model answered without any text.]")
        elif status != "completed" and content:
            self._screen.say("[The answer stops here: it is not complete and was not kept.]")

    # endregion

    def _call(self, payload: Mapping[str, Any]) -> None:
        self._tools[payload["call_id"]] = payload["name"]

    def _approval(self, payload: Mapping[str, Any]) -> None:
        self._asked.add(payload["call_id"])
        if not self._chat:
            self._screen.say(tool_line(self._tools[payload["call_id"]]), "bold")
            for line in field_lines(brief(payload["display"])):
                self._screen.say(line)

    def _decision(self, payload: Mapping[str, Any]) -> None:
        if not self._chat:
            why = one_line(payload.get("rationale", ""))
            self._screen.say(f"[Decision: {payload['decision']}; {why}]")

    def _start(self, payload: Mapping[str, Any]) -> None:
        if payload["call_id"] not in self._asked:
            self._started[payload["call_id"]] = payload["display"]

    # region: result
    def _result(self, payload: Mapping[str, Any]) -> None:
        tool = self._tools.pop(payload["call_id"], "")
        if payload["call_id"] not in self._asked:  # then its name has not been on the screen yet
            self._screen.say(tool_line(tool), "bold")
            for line in field_lines(brief(self._started.pop(payload["call_id"], {}))):
                self._screen.say(line)
        elif self._chat:
            self._screen.blank()
        self._screen.say(result_line(payload), "bold")
        if payload["status"] not in ("denied", "unknown_tool"):  # their words are for the model
            self._screen.text(payload["output"])
        self._screen.end()
        for note in payload.get("notes", ()):
            self._screen.say(f"Note: {one_line(note)}")
        if self._chat:
            self._screen.blank()

    # endregion

    def _retry(self, payload: Mapping[str, Any]) -> None:
        seconds = payload["wait_us"] / 1_000_000
        self._screen.say(f"[Trying again in {seconds:.1f} s: {one_line(payload['cause'])}]")

    def _compact(self, payload: Mapping[str, Any]) -> None:
        """Say what was left out to make the request fit, once as long as it stays the same."""
        dropped, cut = payload["dropped"], payload.get("truncated", [])
        news = {"dropped": dropped, "cut": cut}
        if payload["policy"] == POLICY or news == self._left_out:
            return  # what the rule leaves out was told when that turn ended
        self._left_out = news
        parts = [f"{len(dropped)} earlier messages left out"] if dropped else []
        parts += [f"{len(cut)} long outputs cut"] if cut else []
        why = "as it was too long for the model" if payload["reason"] == "overflow" else "to fit"
        self._screen.say(f"[This request was made shorter, {why}: {', '.join(parts)}.]")

    def _error(self, payload: Mapping[str, Any]) -> None:
        self._screen.say(error_line(payload), "bold")


def result_line(payload: Mapping[str, Any]) -> str:
    """`[Tool result: completed; exit code 0]`, with the reason and the mark of a cut."""
    parts = [payload["status"]]
    if "exit_code" in payload:
        parts.append(f"exit code {payload['exit_code']}")
    if payload.get("reason"):
        parts.append(one_line(payload["reason"]))
    if payload.get("truncated"):
        parts.append("truncated")
    return f"[Tool result: {'; '.join(parts)}]"


def error_line(payload: Mapping[str, Any]) -> str:
    """Why the turn ended."""
    if payload["kind"] == "cancelled":
        return f"[Turn cancelled: {one_line(payload['message'])}]"
    if payload["kind"] == "budget":
        return refusal_line(payload)
    if payload["kind"] == "context" and "needed" in payload:
        numbers = f"{payload['needed']} tokens needed, the limit is {payload['limit']}"
        return f"[Turn failed: context: {one_line(payload['message'])}: {numbers}]"
    return f"[Turn failed: {payload['kind']}: {one_line(payload['message'])}]"
