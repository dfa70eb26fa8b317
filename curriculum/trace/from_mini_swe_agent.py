"""Reads a trajectory of mini-swe-agent (`*.traj.json`): one JSON document with all messages.

Written after the project's own page about output files (formats `mini-swe-agent-1` and `-1.1`).
Its actions are Bash commands in the text of an answer; here each becomes a call of `bash`, and the
observation that follows is its result. With native tool calls both are in the messages already.
"""

from __future__ import annotations

import json
import re
from typing import Any

from curriculum.trace.foreign import (
    Answer,
    Call,
    Foreign,
    NotThisFormatError,
    Outcome,
    Record,
    Said,
    Trouble,
    count_of,
    epoch_of,
    kind_of,
    text_of,
)

_ACTION = re.compile(r"```(?:mswea_bash_command|bash)[ \t]*\n(.*?)\n?```", re.DOTALL)
_RETURN_CODE = re.compile(r"<returncode>\s*(-?\d{1,9})\s*</returncode>")
ROLES = ("system", "user", "assistant", "tool", "exit")
LEFT_OUT = ("cost", "model_stats", "submission")
LIMITS = {"LimitsExceeded": "max-turns"}


def read_mini_swe_agent(data: bytes) -> Foreign:
    """The session of a file. Raises NotThisFormatError."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        document = None
    messages = document.get("messages") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(messages, list):
        raise NotThisFormatError("it is no trajectory of mini-swe-agent: no list of messages")
    written = document.get("trajectory_format", "")
    if not (isinstance(written, str) and written.startswith("mini-swe-agent-1")):
        raise NotThisFormatError("its trajectory_format is none of mini-swe-agent-1 and -1.1")
    reader = _Reader(document)
    for message in messages:
        reader.take(message)
    reader.end()
    return reader.session


class _Reader:
    def __init__(self, document: Record) -> None:
        info = document.get("info")
        self._info: Record = info if isinstance(info, dict) else {}
        self.session = Foreign("mini-swe-agent", str(self._info.get("mini_version", "unknown")))
        self.session.session_id = str(document.get("instance_id") or "")
        self.session.model = str(_dig(self._info, "config", "model", "model_name") or "")
        for key in sorted(set(document) - {"info", "messages", "trajectory_format", "instance_id"}):
            self.session.unknown[f"field {key}"] += 1
        self._waiting: list[str] = []
        self._count = 0
        self._when = 0

    def take(self, message: Any) -> None:
        role = kind_of(message, "role")
        if role not in ROLES:
            self.session.unknown[f"message {role}"] += 1
            return
        extra = message.get("extra")
        extra = extra if isinstance(extra, dict) else {}
        self._when = max(self._when, epoch_of(extra.get("timestamp") or message.get("timestamp")))
        text = text_of(message.get("content") or "", self.session, f"{role} message")
        if role == "system":
            self.session.has_system = True
            self.session.left_out["message system"] += 1
        elif role == "assistant":
            self._answer(message, extra, text)
        elif role == "exit" or "exit_status" in extra:
            self.session.left_out["message exit"] += 1
        elif self._waiting:
            self._observe(message, extra, text)
        else:
            self.session.steps.append(Said(text, self._when))

    def _answer(self, message: Record, extra: Record, text: str) -> None:
        calls = self._native(message) or [
            self._call("bash", json.dumps({"command": command}, ensure_ascii=False))
            for command in _commands(extra, text)
        ]
        self._waiting = [call.call_id for call in calls]
        usage = _dig(extra, "response", "usage")
        tokens = None
        if isinstance(usage, dict):
            tokens = count_of(usage.get("prompt_tokens")), count_of(usage.get("completion_tokens"))
        self.session.steps.append(Answer(text, self._when, calls, "", tokens))
        if message.get("reasoning_content"):
            self.session.left_out["reasoning_content"] += 1

    def _native(self, message: Record) -> list[Call]:
        given = message.get("tool_calls")
        calls = []
        for one in given if isinstance(given, list) else []:
            function = one.get("function") if isinstance(one, dict) else None
            if isinstance(function, dict):
                arguments = function.get("arguments")
                text = arguments if isinstance(arguments, str) else json.dumps(arguments)
                calls.append(self._call(str(function.get("name", "")), text, one.get("id")))
            else:
                self.session.unknown["tool call without a function"] += 1
        return calls

    def _call(self, name: str, arguments: str, call_id: object = None) -> Call:
        self._count += 1
        return Call(str(call_id or f"call-{self._count}"), name, arguments)

    def _observe(self, message: Record, extra: Record, text: str) -> None:
        given = message.get("tool_call_id")
        call_id = given if isinstance(given, str) and given in self._waiting else self._waiting[0]
        self._waiting.remove(call_id)
        found = _RETURN_CODE.search(text[:1000])
        code = extra.get("returncode")
        exit_code = code if type(code) is int else (int(found[1]) if found else None)
        status = "failed" if exit_code else "completed"
        self.session.steps.append(Outcome(call_id, status, text, self._when, exit_code))

    def end(self) -> None:
        """How the run ended. The last action of a submission has no observation."""
        status = str(self._info.get("exit_status") or "")
        if status.lower() == "submitted":
            submission = str(self._info.get("submission") or "")
            for call_id in self._waiting:
                done = Outcome(call_id, "completed", submission, self._when, 0)
                self.session.steps.append(done)
            self.session.reason = "completed"
        elif status:
            kind = LIMITS.get(status, "model")
            self.session.steps.append(Trouble(kind, f"exit status {status}", self._when))


def _commands(extra: Record, text: str) -> list[str]:
    actions = extra.get("actions")
    if isinstance(actions, list):
        return [
            str(one["command"]) for one in actions if isinstance(one, dict) and "command" in one
        ]
    return _ACTION.findall(text)


def _dig(node: Any, *keys: str) -> Any:
    for key in keys:
        node = node.get(key) if isinstance(node, dict) else None
    return node
