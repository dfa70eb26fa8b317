"""Reads a session file of Claude Code (`<session>.jsonl`): one record a line, chained by uuid.

Written after public descriptions of the format (versions 2.0 and 2.1), which has none by its
makers. One answer is several records with the same message id, a content block each; results may
stand between them. Records of sub-agents (sidechains) are left out, so are branches' origins:
the file is read in its own order.
"""

from __future__ import annotations

import json

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

# What is known and left out: state of the program, notes for its screen.
LEFT_OUT = frozenset(
    {
        *("summary", "system", "progress", "file-history-snapshot", "queue-operation", "pr-link"),
        *("attachment", "ai-title", "custom-title", "last-prompt", "permission-mode"),
    }
)
PRIVATE = frozenset({"thinking", "redacted_thinking"})
REJECTED = "The user doesn't want to proceed with this tool use"
INTERRUPTED = "[Request interrupted by user"


def read_claude_code(data: bytes) -> Foreign:
    """The session of a file. Raises NotThisFormatError."""
    reader = _Reader()
    for record in read_jsonl(data, reader.session):
        reader.take(record)
    reader.flush()
    if not reader.is_known:
        raise NotThisFormatError("no line is a record of a Claude Code session")
    return reader.session


class _Reader:
    def __init__(self) -> None:
        self.session = Foreign("claude-code")
        self.is_known = False
        self._answer: Answer | None = None
        self._message_id: object = None
        self._results: list[Outcome] = []

    def take(self, record: Record) -> None:
        kind, message = kind_of(record), record.get("message")
        if kind in ("user", "assistant") and isinstance(message, dict):
            self.is_known = True
            self._take_head(record)
            if record.get("isSidechain"):
                self.session.left_out["sidechain record"] += 1
            elif kind == "user":
                self._user(message, epoch_of(record.get("timestamp")))
            elif record.get("isApiErrorMessage"):
                self.flush()
                text = text_of(message.get("content"), self.session, "assistant")
                when = epoch_of(record.get("timestamp"))
                self.session.steps.append(Trouble("model", text, when))
            else:
                self._assistant(message, epoch_of(record.get("timestamp")))
        elif kind in LEFT_OUT:
            detail = record.get("subtype")
            self.session.left_out[f"{kind} {detail}" if isinstance(detail, str) else kind] += 1
        else:
            self.session.unknown[f"record {kind}"] += 1

    def _take_head(self, record: Record) -> None:
        session = self.session
        session.session_id = session.session_id or str(record.get("sessionId") or "")
        if session.version == "unknown" and isinstance(record.get("version"), str):
            session.version = record["version"]

    def flush(self) -> None:
        """The answer is whole; its results follow it."""
        if self._answer:
            self.session.steps.append(self._answer)
        self.session.steps += self._results
        self._answer, self._message_id, self._results = None, None, []

    def _assistant(self, message: Record, when: int) -> None:
        message_id = message.get("id")
        if self._answer is None or message_id is None or message_id != self._message_id:
            self.flush()
            self._answer, self._message_id = Answer("", when), message_id
        answer = self._answer
        model = message.get("model")
        if isinstance(model, str):
            answer.model = model
            self.session.model = self.session.model or model
        usage = message.get("usage")
        if isinstance(usage, dict):
            kinds = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
            read = sum(count_of(usage.get(kind)) for kind in kinds)
            answer.usage = read, count_of(usage.get("output_tokens"))
        content = message.get("content")
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        for block in blocks:
            self._block(answer, block)

    def _block(self, answer: Answer, block: object) -> None:
        kind = kind_of(block)
        if isinstance(block, dict) and kind == "text":
            text = str(block.get("text") or "")
            answer.text = f"{answer.text}\n{text}" if answer.text else text
        elif isinstance(block, dict) and kind == "tool_use":
            arguments = json.dumps(block.get("input"), ensure_ascii=False)
            answer.calls.append(
                Call(str(block.get("id", "")), str(block.get("name", "")), arguments)
            )
        elif kind in PRIVATE:
            self.session.left_out[f"assistant block {kind}"] += 1
        else:
            self.session.unknown[f"assistant block {kind}"] += 1

    def _user(self, message: Record, when: int) -> None:
        content = message.get("content")
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        said = []
        for block in blocks:
            if isinstance(block, dict) and block.get("type") == "tool_result":
                self._result(block, when)
            else:
                said.append(block)
        if said:
            self.flush()
            text = text_of(said, self.session, "user")
            if text.startswith(INTERRUPTED):
                self.session.steps.append(Trouble("cancelled", text, when))
            else:
                self.session.steps.append(Said(text, when))

    def _result(self, block: Record, when: int) -> None:
        output = text_of(block.get("content") or "", self.session, "tool_result")
        status = "failed" if block.get("is_error") else "completed"
        if status == "failed" and output.startswith(REJECTED):
            status = "denied"
        outcome = Outcome(str(block.get("tool_use_id", "")), status, output, when)
        self._results.append(outcome)
