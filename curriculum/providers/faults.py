"""What a provider says went wrong, as a typed error: retry it, shorten the request, or give up.

Providers agree on little: a status, a code, a type or only a sentence. The more specific one
decides. Each message says what happened and what to do; what it quotes of the provider is escaped,
short, and without the key.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Mapping, Sequence

from curriculum.core.errors import (
    AuthenticationError,
    ContextOverflowError,
    ModelError,
    RateLimitError,
    TransientModelError,
)
from curriculum.providers.endpoint import Endpoint
from curriculum.providers.key_mask import KeyMask
from curriculum.providers.wire import parse

MOST_QUOTED = 300  # characters of what a provider said
MOST_READ = 4_000  # of it are looked through for a known fault: some patterns look again and again

OVERFLOW = {"context_length_exceeded", "model_context_window_exceeded", "request_too_large"}
QUOTA = {
    "insufficient_quota",
    "billing_error",
    "billing_hard_limit_reached",
    "exceeded_current_quota_error",
    "usage_limit_reached",
    "usage_not_included",
}
RATE = {"rate_limit_exceeded", "rate_limit_error", "too_many_requests"}
KEY = {"invalid_api_key", "authentication_error", "permission_error", "permission_denied"}
PASSING = {
    "api_error",
    "internal_error",
    "internal_server_error",
    "overloaded_error",
    "server_error",
    "server_is_overloaded",
    "service_unavailable",
    "slow_down",
    "timeout",
    "timeout_error",
}
STALE = {"invalid_encrypted_content", "thinking_signature_invalid"}

_TOO_LONG = re.compile(
    r"context (length|window|size)|maximum context|too many (input )?tokens|prompt is too long"
    r"|input is too long|reduce the length",
    re.IGNORECASE,
)
_LATER = re.compile(r"retry your request|try again|overloaded|temporar", re.IGNORECASE)
_UNREADABLE = re.compile(
    r"encrypted.content.*(could not be|cannot be|not issued|invalid)|could not decrypt"
    r"|invalid .signature",
    re.I | re.S,
)
_SEALED = re.compile(r"encrypted content is not supported", re.I)
_WAIT = re.compile(
    r"(?:try again|retry) (?:in|after) (?:(\d+)h)?(?:(\d+)m(?!s))?(?:([\d.]+) ?(ms|s))?", re.I
)


class StaleReasoningError(ModelError):
    """The provider can no longer read reasoning that it gave out earlier."""


class Faults:
    """Makes errors of what one endpoint says. `optional` are request fields that may be omitted."""

    def __init__(
        self,
        endpoint: Endpoint,
        optional: Sequence[str] = (),
        now: Callable[[], float] = time.time,
    ) -> None:
        self.key_mask = KeyMask(endpoint.api_key)
        self._most_wait = endpoint.max_wait_seconds
        self._optional = optional
        self._now = now

    def quote(self, text: str) -> str:
        """At most MOST_QUOTED characters of a provider's text, escaped, without the key."""
        text = self.key_mask.message(text)
        cut = text.strip()[:MOST_QUOTED]
        shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)
        return shown + ("..." if len(text.strip()) > MOST_QUOTED else "")

    def of_status(self, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
        """The error that an answer with this HTTP status is; header names are lower case."""
        if 300 <= status < 400:
            where = self.quote(headers.get("location", "elsewhere"))
            return ModelError(
                f"the endpoint redirects ({status}) to {where}; not followed, so that the key "
                "stays where it was meant to go: set the base URL to the final address"
            )
        try:
            error = parse(body.decode())
        except ValueError:
            error = body.decode("utf-8", "replace")
        return self.of_error(error, status, headers)

    def of_error(
        self, error: object, status: int | None = None, headers: Mapping[str, str] | None = None
    ) -> ModelError:
        """The error that a provider's error object is, or the text it sent in place of one."""
        words, text, param = _read(error)
        said = self.quote(text) if text.strip() else "it gave no reason"
        text = text[:MOST_READ]
        codes = self.quote(", ".join(sorted(words)))
        at = f" ({status})" if status else f" ({codes})" if codes else ""
        if words & STALE or _UNREADABLE.search(text):
            return StaleReasoningError(
                f"the provider cannot read its earlier reasoning{at}: {said}; start a new session"
            )
        if words & OVERFLOW or (_TOO_LONG.search(text) and status not in (401, 403, 429)):
            return ContextOverflowError(f"the request is too long for the model{at}: {said}")
        if words & QUOTA or status == 402:
            return RateLimitError(
                f"the quota of this key is used up{at}: {said}; check plan and billing"
            )
        if words & RATE or status == 429:
            return self._rate_limit(at, said, self._wait(headers or {}, text))
        if words & KEY or status in (401, 403):
            return AuthenticationError(
                f"the provider refused the key{at}: {said}; check the key and what it may use"
            )
        if words & PASSING or status in (408, 409, 425) or (status or 0) >= 500:
            return self._transient(at, said, self._wait(headers or {}, text))
        if status is None and _LATER.search(text):
            return self._transient(at, said, self._wait({}, text))
        if status == 404:
            return ModelError(f"not found{at}: {said}; check the model's name and the base URL")
        for name in self._optional:
            if re.search(rf"\b{name}\b", f"{param} {_SEALED.sub('include', text)}"):
                return ModelError(
                    f"the provider refused the request{at}: {said}; "
                    f"if the server does not take {name!r}, omit it"
                )
        what = "refused the request" if status else "could not answer"
        return ModelError(f"the provider {what}{at}: {said}")

    def _rate_limit(self, at: str, said: str, wait: float | None) -> RateLimitError:
        error = RateLimitError(f"too many requests{at}: {said}; try again later")
        if wait is not None and wait > self._most_wait:
            error = RateLimitError(
                f"too many requests{at}: {said}; the provider wants a wait of {wait:.0f} s, longer "
                f"than {self._most_wait:.0f} s: try again then"
            )
        else:
            error.retryable = True
        error.retry_after_seconds = wait
        return error

    def _transient(self, at: str, said: str, wait: float | None) -> ModelError:
        if wait is not None and wait > self._most_wait:
            error = ModelError(
                f"the provider failed{at}: {said}; it wants a wait of {wait:.0f} s, longer than "
                f"{self._most_wait:.0f} s: try again then"
            )
        else:
            error = TransientModelError(f"the provider failed{at}: {said}; try again")
        error.retry_after_seconds = wait
        return error

    # region: wait
    def _wait(self, headers: Mapping[str, str], text: str) -> float | None:
        """Seconds that the provider wants us to wait; None if it does not say, or nothing sensible.

        Retry-After is a number of seconds or an HTTP date (RFC 9110, 10.2.3). A date counts from
        the answer's own Date, so that a wrong clock on either side does no harm.
        """
        given = headers.get("retry-after-ms")
        if given is not None and (wait := _number(given)) is not None:
            return wait / 1000
        given = headers.get("retry-after")
        if given is not None:
            wait = _number(given)
            moment = _moment(given) if wait is None else None
            if moment is not None:
                sent = _moment(headers.get("date", ""))
                wait = max(0.0, moment - (self._now() if sent is None else sent))
            return wait
        match = _WAIT.search(text)
        if match is None or not any(match.groups()):
            return None
        hours, minutes, seconds = (_number(part or "0") or 0.0 for part in match.groups()[:3])
        return hours * 3600 + minutes * 60 + seconds / (1000 if match[4] == "ms" else 1)

    # endregion


def _read(error: object) -> tuple[set[str], str, str]:
    """(codes and types, message, param) of an error in any of the shapes that are in use."""
    if isinstance(error, Mapping):
        inner = error.get("error")
        if isinstance(inner, (Mapping, str)) and inner:
            return _read(inner)
        words = {word for key in ("code", "type") if isinstance(word := error.get(key), str)}
        param, text = error.get("param"), error.get("message", error.get("detail"))
        if text is not None and not isinstance(text, str):
            text = json.dumps(text)
        return words - {"error"}, text or "", param if isinstance(param, str) else ""
    return set(), error if isinstance(error, str) else json.dumps(error), ""


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _moment(text: str) -> float | None:
    from email.utils import parsedate_to_datetime  # slow to import, and few failures have a date

    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
