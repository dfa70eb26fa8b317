"""A trace without its secrets, fit to be shared: each is replaced by `[REDACTED:<rule>:<n>]`.

The mask says which rule found the secret and which of its secrets it is, never the value, its
length or a hash. Pieces of one text (deltas of an answer, output of a call) are held back until
the text is whole, so a secret that straddles them is found; each piece it touches gets the mask.
Redacting twice changes nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from curriculum.core.errors import TraceError
from curriculum.core.trace import MAX_LINE_BYTES, to_json
from curriculum.trace.findings import pointer_of
from curriculum.trace.secret_rules import MASK, SecretRules, Span

Event = dict[str, Any]
Path = tuple[str | int, ...]

POLICY = "curriculum-redact-1"
BEGINNING = "[REDACTED:"
MOST_ROUNDS = 8
MOST_HARMLESS = 1000
_TEXT = ("payload", "text")
# Ends of everything that was held back, whatever is still missing.
ENDS = frozenset({"user.message", "session.stop", "session.start"})


@dataclass
class Held:
    """An event on its way out, and the pointers of the texts in it that were masked just now."""

    event: Event
    line: int
    found: list[tuple[str, str]] = field(default_factory=list)
    has_mask: bool = False  # of this policy or any other, whole or cut


class Redactor:
    """Takes events in order and gives them back in order, redacted.

    Each comes back with what was found in it: (JSON Pointer, mask).
    """

    def __init__(self, rules: SecretRules) -> None:
        self._rules = rules
        self._numbers: dict[str, dict[str, int]] = {}
        self._held: list[Held] = []
        self._pieces: dict[tuple[str, ...], list[Held]] = {}
        self._harmless: set[str] = set()  # keys that were looked at before
        self._line = 0

    def take(self, event: Event) -> Iterator[Held]:
        """The next event; gives those that are ready."""
        self._line += 1
        held = Held(event, self._line)
        kind, payload = event["type"], event["payload"]
        if kind == "model.delta":
            self._pieces.setdefault(("delta", payload["request_id"]), []).append(held)
        elif kind == "tool.output":
            key = ("output", payload["call_id"], payload["stream"])
            self._pieces.setdefault(key, []).append(held)
        self._held.append(held)
        if kind in ENDS:
            self._join(lambda key: True)
        elif kind in ("model.response", "model.request"):
            self._join(lambda key: key[0] == "delta")
        elif kind == "tool.result":
            self._join(lambda key: key[:2] == ("output", payload["call_id"]))
        if not self._pieces:
            yield from self._release()

    def finish(self) -> Iterator[Held]:
        """There are no more events; gives all that were held back."""
        self._join(lambda key: True)
        yield from self._release()

    def _release(self) -> Iterator[Held]:
        ready, self._held = self._held, []
        for held in ready:
            self._redact(held)
            yield held

    # region: join
    def _join(self, is_whole: Any) -> None:
        """Mask what straddles the pieces of each text that is whole now."""
        for key in [key for key in self._pieces if is_whole(key)]:
            pieces = self._pieces.pop(key)
            for _ in range(MOST_ROUNDS):
                texts = [held.event["payload"]["text"] for held in pieces]
                whole = "".join(texts)
                spans = self._rules.find(whole)
                if spans:
                    self._mask_pieces(pieces, whole, spans)
                    continue
                # What is no key in the whole may look like one where a piece begins.
                for held in pieces:
                    payload = held.event["payload"]
                    payload["text"] = self._clean(payload["text"], "text", _TEXT, held)
                if texts == [held.event["payload"]["text"] for held in pieces]:
                    break

    def _mask_pieces(self, pieces: list[Held], whole: str, spans: list[Span]) -> None:
        left = deque((span, self._mask(span, whole)) for span in spans)
        begin = 0
        for held in pieces:
            payload = held.event["payload"]
            end = begin + len(payload["text"])
            parts: list[str] = []
            at = begin
            while left and left[0][0].start < end:
                span, mask = left[0]
                parts += [whole[at : max(at, span.start)], mask]
                at = min(span.end, end)
                held.found.append(("/payload/text", mask))
                if span.end > end:  # it goes on in the next piece
                    break
                left.popleft()
            payload["text"] = "".join([*parts, whole[at:end]])
            begin = end

    # endregion

    def _mask(self, span: Span, text: str) -> str:
        if span.number:
            return f"[REDACTED:{span.rule}:{span.number}]"
        numbers = self._numbers.setdefault(span.rule, {})
        secret = text[span.start : span.end]
        number = numbers.setdefault(secret, max(numbers.values(), default=0) + 1)
        return f"[REDACTED:{span.rule}:{number}]"

    def _redact(self, held: Held) -> None:
        event = held.event
        marks = event.pop("redaction")
        pointers: set[str] = set()
        self._walk(event, (), held, pointers)
        items = sorted(pointers)
        if marks["status"] == "withheld":
            event["redaction"] = {"status": "withheld"}
            if "policy" in marks:
                path = ("redaction", "policy")
                event["redaction"]["policy"] = self._clean(marks["policy"], "", path, held)
            if items:
                event["redaction"]["items"] = items
        elif held.has_mask:
            # What other policies masked is still there: the pointers are of all masks.
            event["redaction"] = {"status": "redacted", "policy": POLICY, "items": items}
        else:
            event["redaction"] = {"status": "clean", "policy": POLICY}

    def _walk(self, node: Any, path: Path, held: Held, pointers: set[str]) -> None:
        """Mask every text and key under a node, in place; collect where masks stand."""
        steps: Any = range(len(node)) if isinstance(node, list) else list(node)
        for step in steps:
            child = node[step]
            if isinstance(step, str) and step not in self._harmless:
                safe = self._clean(step, "", path, held)
                if safe != step:
                    del node[step]
                    step = safe
                if BEGINNING in step:
                    held.has_mask = True
                elif len(self._harmless) < MOST_HARMLESS:
                    self._harmless.add(step)
            if isinstance(child, (dict, list)):
                node[step] = child
                self._walk(child, (*path, step), held, pointers)
            elif isinstance(child, str):
                key = str(step) if isinstance(node, dict) else ""
                node[step] = self._clean(child, key, (*path, step), held)
                if BEGINNING in node[step]:
                    held.has_mask = True
                    if MASK.search(node[step]):
                        pointers.add(pointer_of((*path, step)))
            else:
                node[step] = child

    def _clean(self, text: str, key: str, path: Path, held: Held) -> str:
        """A text without secrets."""
        if BEGINNING in text:
            for old in MASK.finditer(text):  # its number is never given to another secret
                self._numbers.setdefault(old[1], {}).setdefault(old[0], int(old[2]))
        for _ in range(MOST_ROUNDS):
            spans = self._rules.find(text, key)
            if not spans:
                break
            parts: list[str] = []
            at = 0
            for span in spans:
                mask = self._mask(span, text)
                held.found.append((pointer_of(path), mask))
                parts += [text[at : span.start], mask]
                at = span.end
            text = "".join([*parts, text[at:]])
        return text


def to_line(event: Event) -> str:
    """The event as a line with its LF; masks may have made it too long, then it is cut."""
    line = to_json(event)
    longest = MAX_LINE_BYTES
    while len(line) * 4 >= MAX_LINE_BYTES and len(line.encode()) >= MAX_LINE_BYTES:
        from curriculum.core.line_limit import MARK, shorten

        longest //= 2
        if longest <= len(MARK):
            raise TraceError("an event has too many fields to fit in one line of a trace")
        cuts, payload = shorten(event["payload"], longest)
        items = sorted({*event["redaction"].get("items", ()), *cuts})
        marks = {**event["redaction"], "status": "redacted", "items": items}
        line = to_json({**event, "payload": payload, "redaction": marks})
    return line + "\n"
