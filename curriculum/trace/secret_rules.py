"""Where secrets stand in a text: exact known values first, then key names, then shapes.

A rule finds spans; it changes nothing. Spans that overlap become one, so that nothing of a secret
is left over beside a mask. What is a mask already is never found again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote as percent_encode

MASK = re.compile(r"\[REDACTED:([A-Za-z0-9_-]+):([0-9]{1,15})\]")
_ONLY_MASKS = re.compile(r"[\"']?(?:\[REDACTED:[A-Za-z0-9_-]+:[0-9]+\])+[\"']?")
SHORTEST_CUT = 8
SHORT, MOST_HARMLESS = 40, 10_000

# Nothing here is unbounded before its first fixed word, so no text makes a search slow.
_NAME = (
    r"[\w.-]{0,64}(?:api[_-]?key|access[_-]?key|private[_-]?key|secret(?:[_-]?key)?|passw(?:or)?d"
    r"|passphrase|token|credentials?|authorization|cookie)"
)
KEY_NAME = re.compile(_NAME, re.IGNORECASE)

# In each the group `it` is the secret. A value that begins with $ or < stands for one.
_NAMED = (
    # JSON in a text, then JSON in a text in JSON: quotes of one level have as many backslashes.
    # A text that was cut may end before the closing quote.
    rf'"{_NAME}"\s*:\s*"(?P<it>(?:[^"\\]|\\.)+)',
    rf'(?P<level>\\+)"{_NAME}(?P=level)"\s*:\s*(?P=level)"(?P<it>.+?)(?:(?<!\\)(?P=level)"|\Z)',
    # NAME=value, name = "value", --name value, name: value (if it has a digit, so no prose)
    rf"\b{_NAME}=(?P<it>[^\s\"'`;&|)\\$<][^\s\"'`;&|)\\]*|\"[^\"\\\n$<][^\"\\\n]*\"|'[^'\n]+')",
    rf"\b{_NAME}\s*[:=]\s*(?P<it>\"[^\"\\\n$<][^\"\\\n]*\"|'[^'\\\n$<][^'\\\n]*')",
    rf"--{_NAME}\s+(?P<it>[^\s\"'`;&|)\\$<-][^\s\"'`;&|)\\]*)",
    rf"\b{_NAME}:\s*(?P<it>(?=[A-Za-z_+/=.~-]*[0-9])[A-Za-z0-9_+/=.~-]{{8,}})",
)
_SHAPES = {
    "private-key": r"(?P<it>-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*KEY-----|\Z))",
    "api-key": r"\b(?P<it>(?:sk|rk|pk)-[A-Za-z0-9_-]{16,}|[sr]k_(?:live|test)_[A-Za-z0-9]{16,})",
    "github": r"(?P<it>gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})",
    "aws": r"(?P<it>(?:AKIA|ASIA)[0-9A-Z]{16})\b",
    "google": r"(?P<it>AIza[0-9A-Za-z_-]{35})",
    "slack": r"(?P<it>xox[abeprs]-[A-Za-z0-9-]{10,})",
    "jwt": r"(?P<it>eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)",
    "bearer": r"(?i:\bbearer)\s+(?P<it>(?=[A-Za-z._~+/=-]*[0-9])[A-Za-z0-9._~+/=-]{8,})",
    "basic": r"(?i:\bauthorization\W{1,8}basic)\s+(?P<it>[A-Za-z0-9+/=]{6,})",
    "url": r"\b[a-z][a-z0-9+.-]{0,30}://[^\s/:@\"']{0,256}:(?P<it>[^\s/@\"'$<{][^\s/@\"']*)@",
}
# No text without one of these has anything for the rules above: most texts are done here.
_HINT = re.compile(
    r"key|secret|passw|passphrase|token|credential|authorization|cookie|bearer"
    r"|sk-|rk-|pk-|[sr]k_|gh[pousr]_|github_|AKIA|ASIA|AIza|xox|eyJ|://",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Span:
    """A secret: the half-open range in the text, which rule found it, and its number if known."""

    start: int
    end: int
    rule: str
    number: int = 0


class SecretRules:
    """All rules together. `known` are exact values, each with its place in the list as number."""

    def __init__(self, known: Sequence[str] = ()) -> None:
        self._known = tuple(known)
        self._forms: dict[str, int] = {}
        for number, secret in enumerate(known, 1):
            for form in _forms(secret):
                self._forms.setdefault(form, number)
        longest_first = sorted(self._forms, key=len, reverse=True)
        self._exact = re.compile("|".join(map(re.escape, longest_first))) if known else None
        self._harmless: set[tuple[str, str]] = set()  # short texts come again and again
        self._begun = _beginnings(self._forms)
        self._begun_lengths = sorted({len(begun) for begun in self._begun}, reverse=True)
        self._named = [re.compile(pattern, re.IGNORECASE | re.DOTALL) for pattern in _NAMED]
        self._shapes = {rule: re.compile(shape, re.DOTALL) for rule, shape in _SHAPES.items()}

    def find(self, text: str, key: str = "") -> list[Span]:
        """The secrets of a text that stands under a key, in order, none touching another."""
        if len(text) < 4 or (text, key) in self._harmless:
            return []
        spans = self._find(text, key)
        if not spans and len(text) <= SHORT and len(self._harmless) < MOST_HARMLESS:
            self._harmless.add((text, key))
        return spans

    def _find(self, text: str, key: str) -> list[Span]:
        spans = list(self._find_known(text))
        if key and KEY_NAME.fullmatch(key) and not _ONLY_MASKS.fullmatch(text):
            spans.append(Span(0, len(text), "key"))
        if _HINT.search(text):
            spans += self._find_named(text)
            spans += self._find_shapes(text)
        return _merge(spans)

    def _find_known(self, text: str) -> Iterator[Span]:
        if self._exact is None:
            return
        for found in self._exact.finditer(text):
            yield Span(found.start(), found.end(), "known", self._forms[found[0]])
        ends = [len(text)]
        if "[REDACTED:line-limit:" in text:
            ends += [mask.start() for mask in MASK.finditer(text) if mask[1] == "line-limit"]
        for end in ends:
            for length in self._begun_lengths:
                number = self._begun.get(text[max(0, end - length) : end])
                if number:
                    yield Span(end - length, end, "known", number)
                    break

    def _find_named(self, text: str) -> Iterator[Span]:
        for pattern in self._named:
            for found in pattern.finditer(text):
                if not _ONLY_MASKS.fullmatch(found["it"]):
                    yield Span(*found.span("it"), "key")

    def _find_shapes(self, text: str) -> Iterator[Span]:
        for rule, pattern in self._shapes.items():
            for found in pattern.finditer(text):
                if not _ONLY_MASKS.fullmatch(found["it"]):
                    yield Span(*found.span("it"), rule)


def _forms(secret: str) -> set[str]:
    """A secret as it may stand in a text: plain, in JSON, in JSON in JSON, in a URL."""
    forms = {secret, percent_encode(secret), percent_encode(secret, safe="")}
    for ascii_only in (True, False):
        once = json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
        forms |= {once, json.dumps(once, ensure_ascii=ascii_only)[1:-1]}
    return {form for form in forms if len(form) >= 4}


def _beginnings(forms: dict[str, int]) -> dict[str, int]:
    """What may be left of a secret where a text was cut: at least half of it, and 8 characters."""
    return {
        form[:length]: number
        for form, number in forms.items()
        for length in range(max(SHORTEST_CUT, len(form) // 2), len(form))
    }


def _merge(spans: list[Span]) -> list[Span]:
    """Spans in order; what overlaps is one span, under the rule that comes first."""
    rank = {id(span): place for place, span in enumerate(spans)}
    merged: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, rank[id(span)])):
        last = merged[-1] if merged else None
        if last is None or span.start >= last.end:
            merged.append(span)
            continue
        first = min(last, span, key=lambda one: rank[id(one)])
        number = first.number if first.rule == "known" else 0
        both = Span(last.start, max(last.end, span.end), first.rule, number)
        rank[id(both)] = rank[id(first)]
        merged[-1] = both
    return merged
