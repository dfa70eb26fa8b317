"""Reads a session file of the Codex CLI (`rollout-*.jsonl`): {timestamp, type, payload} a line.

Written after public descriptions of the format (versions of 2025 and 2026). Answers are what the
`response_item` records say; `event_msg` records repeat them for the screen, so only their token
counts and aborted turns are used.
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
    read_jsonl,
    text_of,
)

KINDS = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted"})
# What is known and left out: private reasoning, copies for the screen, state of the program.
LEFT_OUT = frozenset(
    {
        *("reasoning", "ghost_snapshot", "compaction", "context_compaction", "web_search_call"),
        *("user_message", "agent_message", "agent_reasoning", "agent_reasoning_raw_content"),
        *("agent_reasoning_section_break", "task_started", "task_complete", "turn_started"),
        *("turn_complete", "exec_command_begin", "exec_command_end", "patch_apply_begin"),
        *("patch_apply_end", "context_compacted", "entered_review_mode", "exited_review_mode"),
        *("mcp_tool_call_begin", "mcp_tool_call_end", "web_search_begin", "web_search_end"),
        *("thread_name_updated", "item_completed", "item_started"),
    }
)
CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call"})
OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "local_shell_call_output"})
_EXIT_CODE = re.compile(r"(?:Exit code|Process exited with code):? (-?\d{1,9})\b")


def read_codex(data: bytes) -> Foreign:
    """The session of a file. Raises NotThisFormatError."""
    reader = _Reader()
    for record in read_jsonl(data, reader.session):
        reader.take(record)
    if not reader.is_known:
        raise NotThisFormatError("no line is a record of a Codex session")
    return reader.session


class _Reader:
    def __init__(self) -> None:
        self.session = Foreign("codex")
        self.is_known = False
        self._answer: Answer | None = None  # the one that further records may still belong to
        self._latest: Answer | None = None

    def take(self, record: Record) -> None:
        kind, payload = kind_of(record), record.get("payload")
        if kind not in KINDS or not isinstance(payload, dict):
            self.session.unknown[f"record {kind}"] += 1
            return
        self.is_known = True
        when = epoch_of(record.get("timestamp"))
        if kind == "session_meta":
            self.session.session_id = str(payload.get("id", ""))
            self.session.version = str(payload.get("cli_version", "unknown"))
        elif kind == "turn_context":
            self.session.model = self.session.model or str(payload.get("model") or "")
        elif kind == "response_item":
            self._item(payload, when)
        elif kind == "event_msg":
            self._event(payload, when)
        else:
            self.session.left_out["compacted"] += 1

    def _item(self, payload: Record, when: int) -> None:
        kind = kind_of(payload)
        if kind == "message":
            self._message(payload, when)
        elif kind in CALLS:
            name = payload.get("name") or kind.removesuffix("_call")
            given = payload.get("arguments", payload.get("input", payload.get("action")))
            arguments = given if isinstance(given, str) else json.dumps(given)
            call_id = str(payload.get("call_id") or payload.get("id") or "")
            self._current(when).calls.append(Call(call_id, str(name), arguments))
        elif kind in OUTPUTS:
            self._answer = None
            self._output(payload, when)
        else:
            self._count(kind)

    def _message(self, payload: Record, when: int) -> None:
        role = kind_of(payload, "role")
        text = text_of(payload.get("content"), self.session, "message")
        if role == "assistant":
            answer = self._current(when)
            answer.text = f"{answer.text}\n{text}" if answer.text else text
        elif role == "user":
            self._answer = None
            self.session.steps.append(Said(text, when))
        elif role in ("developer", "system"):
            self.session.left_out[f"message {role}"] += 1
            self.session.has_system = True
        else:
            self.session.unknown[f"message {role}"] += 1

    def _current(self, when: int) -> Answer:
        if self._answer is None:
            self._answer = self._latest = Answer("", when)
            self.session.steps.append(self._answer)
        return self._answer

    def _output(self, payload: Record, when: int) -> None:
        output, exit_code, failed = _unpack(payload.get("output"), self.session)
        status = "failed" if failed or exit_code else "completed"
        call_id = str(payload.get("call_id", ""))
        self.session.steps.append(Outcome(call_id, status, output, when, exit_code))

    def _event(self, payload: Record, when: int) -> None:
        kind = kind_of(payload)
        if kind == "token_count":
            info = payload.get("info")
            usage = info.get("last_token_usage") if isinstance(info, dict) else None
            if isinstance(usage, dict) and self._latest and self._latest.usage is None:
                tokens = usage.get("input_tokens"), usage.get("output_tokens")
                self._latest.usage = count_of(tokens[0]), count_of(tokens[1])
        elif kind == "turn_aborted":
            self._answer = None
            reason = str(payload.get("reason") or "the turn was aborted")
            self.session.steps.append(Trouble("cancelled", reason, when))
        elif kind == "error":
            self._answer = None
            self.session.steps.append(Trouble("model", str(payload.get("message", "")), when))
        else:
            self._count(kind)

    def _count(self, kind: str) -> None:
        counter = self.session.left_out if kind in LEFT_OUT else self.session.unknown
        counter[kind] += 1


def _unpack(output: Any, session: Foreign) -> tuple[str, int | None, bool]:
    """(text, exit code, whether it failed) of an output in any of its forms."""
    failed = False
    if isinstance(output, dict):
        failed = output.get("success") is False
        output = output.get("content")
    text = text_of(output, session, "output") if output is not None else ""
    if text.startswith("{"):  # older versions: {"output": "...", "metadata": {"exit_code": 0}}
        try:
            packed = json.loads(text)
        except (ValueError, RecursionError):
            packed = None
        if isinstance(packed, dict) and isinstance(packed.get("output"), str):
            about = packed.get("metadata")
            code = about.get("exit_code") if isinstance(about, dict) else None
            return packed["output"], code if type(code) is int else None, failed
    found = _EXIT_CODE.search(text[:500])
    return text, int(found[1]) if found else None, failed
