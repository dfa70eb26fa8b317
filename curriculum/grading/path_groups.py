"""Grader of s10 D: groups of calls without a conflict, tried with random batches."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from curriculum.core.messages import ToolCall
from curriculum.core.tools import ToolBox
from curriculum.grading.mistakes import attempt, mistake
from curriculum.grading.s10 import Probe

__unittest = True

DEEP = 's10, "Deep dive"'

Groups = Sequence[Sequence[ToolCall]]
PATHS = ("a", "./a", "b", "x/a", "x//a", "x/./a", "A", "a.", ".a", "x/.../a")


def grade_groups_by_path(groups_by_path: Callable[[Sequence[ToolCall], ToolBox], Groups]) -> None:
    """D. Random batches: no conflict, no group smaller than it has to be, the same outcome."""
    with attempt("groups_by_path", DEEP):
        for seed in range(300):
            _check_paths(groups_by_path, random.Random(seed))


def _random_call(rng: random.Random, number: int) -> ToolCall:
    name = rng.choice(
        ["read", "read", "write", "write", "fiction"] if rng.random() < 0.2 else ["read", "write"]
    )
    arguments = json.dumps({"path": rng.choice(PATHS)})
    if rng.random() < 0.1:
        odd = ["", "[]", '"a"', '{"path": 7}', '{"file": "a"}', "[" * 100_000, "null"]
        arguments = rng.choice(odd)
    return ToolCall(f"c{number}", name, arguments)


def _touches(call: ToolCall) -> tuple[str, bool] | None:
    """(file, whether it is a write), or None where nobody can tell."""
    try:
        path = json.loads(call.arguments)["path"]
        names = [name for name in path.split("/") if name not in ("", ".")]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return None if call.name == "fiction" else ("/".join(names), call.name == "write")


def _conflict(one: ToolCall, other: ToolCall) -> str:
    """Why the two may not run together, or ""."""
    a, b = _touches(one), _touches(other)
    if a is None or b is None:
        return "nobody knows what one of them touches"
    return "they name the same file, and one writes it" if a[0] == b[0] and (a[1] or b[1]) else ""


def _show(call: ToolCall) -> str:
    return f"{call.name} {call.arguments[:30]}"


def _check_paths(
    groups_by_path: Callable[[Sequence[ToolCall], ToolBox], Groups], rng: random.Random
) -> None:
    tools = ToolBox([Probe("read", True), Probe("write", False)])
    calls = [_random_call(rng, number) for number in range(rng.randrange(9))]
    got = groups_by_path(calls, tools)
    shown = [[_show(call) for call in group] for group in got]
    if [call for group in got for call in group] != calls or not all(got):
        raise mistake("every call once, in order, and no empty group", f"{shown}", DEEP)
    for group in got:
        for at, one in enumerate(group):
            for other in group[at + 1 :]:
                if why := _conflict(one, other):
                    pair = (
                        f"{one.name} {one.arguments[:30]} and {other.name} {other.arguments[:30]}"
                    )
                    raise mistake(f"{pair} in different groups: {why}", f"{shown}", DEEP)
    for before, after in pairwise(got):
        if not any(_conflict(one, after[0]) for one in before):
            expected = f"{_show(after[0])} to join the group before it"
            raise mistake(expected, f"{shown}", DEEP)
    if _play(calls) != _play([call for group in got for call in rng.sample(group, len(group))]):
        raise mistake("the outcome of running one after the other", f"{shown}", DEEP)


def _play(calls: Sequence[ToolCall]) -> Mapping[str, object]:
    """What each call sees and what the files hold at the end, if they run in this order."""
    files: dict[str, str] = {}
    seen: dict[str, object] = {}
    for call in calls:
        touched = _touches(call)
        if touched is not None:
            path, writes = touched
            seen[call.call_id] = files.get(path)
            if writes:
                files[path] = call.call_id
    return {"files": files, "seen": seen}
