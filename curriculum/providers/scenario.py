"""Scenario files: what a scripted endpoint answers, request by request, faults included.

    {"about": "one line", "exchanges": [EXCHANGE, ...]}

An exchange answers one request. All its fields may be left out:

    expect         {"path", "headers", "body", "lacks"}: what the request must hold. `body` and
                   `headers` are compared field by field, other fields may be there; `lacks` names
                   body fields that must not be. A request that differs is answered with status 400.
    status         HTTP status, 200 if not given; `headers` are added to the answer's: text on one
                   line, in Latin-1
    answer         what the model answers, sent as the protocol of the path streams it:
                   {"text" or "pieces": [...], "calls": [{"call_id", "name", "arguments"}],
                   "reasoning": "sealed text"}
    send           or: the steps of the answer, one after the other
    line_end       "\\n" (default), "\\r\\n" or "\\r" at the ends of event lines
    bytes_at_once  the answer goes out in parts of so many bytes

Steps: {"event": {...}, "name": "..."} is one event (the name is its `type` if not given),
{"raw": "text"} and {"base64": "..."} are sent as they are, {"gate": "x"} waits for `open("x")`,
{"stall": seconds} is silent, {"cut": true} closes in the middle of the answer, {"reset": true}
breaks the connection, {"hold": true} keeps it open until the client hangs up. Status and headers
go out before the first byte that a step sends, not earlier.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from curriculum.core.visible import quote
from curriculum.core.whole_file import read_whole

MOST_BYTES = 64 * 1024 * 1024
MOST_DEPTH = 100  # nesting: a request is compared, and an event written, deeper in the stack
MOST_STALL_SECONDS = 86_400
SCENARIOS = resources.files("curriculum.providers") / "scenarios"
LINE_ENDS = ("\n", "\r\n", "\r")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, 5.6.2
_EXCHANGE: Mapping[str, type | tuple[type, ...]] = {
    "expect": dict,
    "status": int,
    "headers": dict,
    "answer": dict,
    "send": list,
    "line_end": str,
    "bytes_at_once": int,
}
_EXPECT: Mapping[str, type | tuple[type, ...]] = {
    "path": str,
    "headers": dict,
    "body": dict,
    "lacks": list,
}
_ANSWER: Mapping[str, type | tuple[type, ...]] = {
    "text": str,
    "pieces": list,
    "calls": list,
    "reasoning": str,
}
_STEPS: Mapping[str, type | tuple[type, ...]] = {
    "event": dict,
    "raw": str,
    "base64": str,
    "gate": str,
    "stall": (int, float),
    "cut": bool,
    "reset": bool,
    "hold": bool,
}


class ScenarioError(ValueError):
    """A scenario that cannot be played; one line that says where and what to do."""


def scenario_names() -> list[str]:
    """The packaged scenarios."""
    names = (entry.name for entry in SCENARIOS.iterdir())
    return sorted(name.removesuffix(".json") for name in names if name.endswith(".json"))


def load_scenario(source: Mapping[str, Any] | Path | str) -> dict[str, Any]:
    """A checked scenario: from data, a file or a packaged name. Raises ScenarioError."""
    if isinstance(source, Mapping):
        return _checked(source, "the scenario")
    packaged = SCENARIOS / f"{source}.json"
    if isinstance(source, str) and "/" not in source and packaged.is_file():
        return _checked(json.loads(packaged.read_text("utf-8")), f"scenario {source}")
    where = quote(str(source))[1:-1]
    try:
        data = json.loads(read_whole(str(source), MOST_BYTES))
    except OSError as fault:
        names = ", ".join(scenario_names())
        raise ScenarioError(f"{where}: {fault.strerror}; give a file or one of: {names}") from None
    except (ValueError, RecursionError) as fault:
        raise ScenarioError(f"{where}: no JSON ({fault}); correct it") from None
    return _checked(data, where)


def _checked(data: object, where: str) -> dict[str, Any]:
    if not isinstance(data, Mapping) or not isinstance(data.get("exchanges"), list):
        raise ScenarioError(f'{where}: must be {{"exchanges": [...]}}')
    _check_plain(data, where, MOST_DEPTH)
    for number, exchange in enumerate(data["exchanges"], 1):
        here = f"{where}, exchange {number}"
        _fields(exchange, _EXCHANGE, here)
        _fields(exchange.get("expect", {}), _EXPECT, f"{here}, expect")
        _fields(exchange.get("answer", {}), _ANSWER, f"{here}, answer")
        _texts(exchange.get("expect", {}).get("lacks", ()), f"{here}, expect: lacks")
        _texts(exchange.get("answer", {}).get("pieces", ()), f"{here}, answer: pieces")
        _headers(exchange.get("headers", {}), here)
        _headers(exchange.get("expect", {}).get("headers", {}), f"{here}, expect")
        if not 100 <= exchange.get("status", 200) <= 999:
            raise ScenarioError(f"{here}: status must be from 100 to 999")
        for at, call in enumerate(exchange.get("answer", {}).get("calls", ()), 1):
            _call(call, f"{here}, answer, call {at}")
        if exchange.get("line_end", "\n") not in LINE_ENDS:
            raise ScenarioError(f"{here}: line_end must be one of {LINE_ENDS}")
        if exchange.get("bytes_at_once", 1) < 1:
            raise ScenarioError(f"{here}: bytes_at_once must be at least 1")
        if "answer" in exchange and "send" in exchange:
            raise ScenarioError(f"{here}: has both answer and send; keep one")
        for at, step in enumerate(exchange.get("send", ()), 1):
            _step(step, f"{here}, step {at}")
    return dict(data)


def _texts(found: Iterable[object], where: str) -> None:
    if not all(isinstance(text, str) for text in found):
        raise ScenarioError(f"{where} must be texts")


def _headers(headers: Mapping[str, object], where: str) -> None:
    for name, text in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            raise ScenarioError(f"{where}: no header can have the name {quote(name)}")
        if not isinstance(text, str):
            raise ScenarioError(f"{where}: the header {name} must be text")
        if set("\r\n") & set(text) or max(text, default="") > "\xff":
            raise ScenarioError(f"{where}: the header {name} must be one line of Latin-1")


def _check_plain(data: object, where: str, depth: int) -> None:
    """Refuse what is no JSON (a scenario may be given as data), or too deep to be compared."""
    if depth < 0:
        raise ScenarioError(f"{where}: nested deeper than {MOST_DEPTH}")
    if isinstance(data, Mapping):
        _texts(data, f"{where}: the names of fields")
        for field in data.values():
            _check_plain(field, where, depth - 1)
    elif isinstance(data, list | tuple):
        for item in data:
            _check_plain(item, where, depth - 1)
    elif data is not None and not isinstance(data, str | int | float):
        raise ScenarioError(f"{where}: holds {type(data).__name__}, which is no JSON")


def _call(call: object, where: str) -> None:
    _fields(call, {"call_id": str, "name": str, "arguments": (str, dict)}, where)
    assert isinstance(call, Mapping)
    for name in ("call_id", "name"):
        if name not in call:
            raise ScenarioError(f"{where}: {name} is missing")


def _step(step: object, where: str) -> None:
    _fields(step, {**_STEPS, "name": str}, where)
    assert isinstance(step, Mapping)
    if len(step.keys() & _STEPS.keys()) != 1 or ("name" in step and "event" not in step):
        raise ScenarioError(f"{where}: must be one of {', '.join(_STEPS)}")
    event = step.get("event", {})
    if set("\r\n") & set(str(step.get("name", event.get("type", "")))):
        raise ScenarioError(f"{where}: the name of an event must be on one line")
    if not 0 <= step.get("stall", 0) <= MOST_STALL_SECONDS:
        raise ScenarioError(f"{where}: stall must be from 0 to {MOST_STALL_SECONDS} seconds")
    if "base64" in step:
        try:
            base64.b64decode(step["base64"], validate=True)
        except (binascii.Error, ValueError) as fault:
            raise ScenarioError(f"{where}: base64 cannot be decoded ({fault})") from None


def _fields(data: object, known: Mapping[str, type | tuple[type, ...]], where: str) -> None:
    if not isinstance(data, Mapping):
        raise ScenarioError(f"{where}: must be an object")
    for name, field in data.items():
        if name not in known:
            raise ScenarioError(f"{where}: unknown {name!r}; known are {', '.join(known)}")
        kind = known[name]
        if not isinstance(field, kind) or (isinstance(field, bool) and kind is not bool):
            raise ScenarioError(f"{where}: {name} has the wrong type ({type(field).__name__})")


def difference(wanted: object, got: object, where: str) -> str | None:
    """How `got` lacks what is `wanted` of it, or None. Objects may hold more than is wanted."""
    if isinstance(wanted, Mapping):
        if not isinstance(got, Mapping):
            return f"{where} should be an object, not {got!r:.80}"
        for name, field in wanted.items():
            if name not in got:
                return f"{where}.{name} is missing"
            if found := difference(field, got[name], f"{where}.{name}"):
                return found
        return None
    if isinstance(wanted, list):
        if not isinstance(got, list) or len(got) != len(wanted):
            return f"{where} should have {len(wanted)} entries, not {got!r:.200}"
        pairs = enumerate(zip(wanted, got, strict=True))
        each = (difference(item, other, f"{where}[{n}]") for n, (item, other) in pairs)
        return next(filter(None, each), None)
    return None if wanted == got else f"{where} should be {wanted!r:.80}, not {got!r:.80}"
