"""A trace as a terminal recording (asciicast v2): what a person at the terminal would have seen.

Text of the trace is escaped, so nothing in it can act on the terminal that plays the recording.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from curriculum.core.visible import escape
from curriculum.trace.describe import describe
from curriculum.trace.export_otel import epoch_us

Event = dict[str, Any]
WIDTH, HEIGHT = 100, 30
BOLD, DIM, RED, PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[0m"
LONGEST = 400


def export_asciicast(events: Iterable[Event], idle_limit: float) -> Iterator[str]:
    """The lines of the recording, without their LF. No pause is longer than `idle_limit` s."""
    now_us = shown_us = 0
    cast = _Cast()
    for index, event in enumerate(events):
        if index == 0:
            start = epoch_us(event["timestamp"]) // 1_000_000
            yield json.dumps({"version": 2, "width": WIDTH, "height": HEIGHT, "timestamp": start})
        step = max(0, event["elapsed_us"] - now_us)
        now_us = max(now_us, event["elapsed_us"])
        shown_us += min(step, round(idle_limit * 1_000_000))
        text = cast.show(event)
        if text:
            yield json.dumps([shown_us / 1_000_000, "o", text.replace("\n", "\r\n")])


class _Cast:
    """Shows one event after the other; an answer that was streamed is not shown twice."""

    def __init__(self) -> None:
        self._is_streaming = False

    def show(self, event: Event) -> str:
        kind, payload = event["type"], event["payload"]
        if kind == "model.delta":
            self._is_streaming = True
            return escape(payload["text"])
        if kind == "model.response":
            was_streaming, self._is_streaming = self._is_streaming, False
            text = "" if was_streaming else escape(payload["content"])
            failed = "" if payload["status"] == "completed" else self._said(event)
            ended = "\n" if was_streaming or text else ""
            return f"{text}{ended}{failed}"
        if kind == "user.message":
            return f"{BOLD}> {escape(payload['content'])}{PLAIN}\n"
        if kind == "tool.output":
            return escape(payload["text"])
        if kind in ("tool.call", "approval.decision", "tool.result", "error", "session.stop"):
            return self._said(event)
        return ""

    def _said(self, event: Event) -> str:
        is_bad = event["type"] == "error" or event["payload"].get("status", "") == "failed"
        return f"{RED if is_bad else DIM}{describe(event, LONGEST)}{PLAIN}\n"
