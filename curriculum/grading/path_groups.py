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
PATHS = ("a", "./a", "b", "x/a", "x//a", "x/./a", "A", "a.", ".a", "x/.../a", "a..", "")
UPWARDS = ("x/../a", "../a", "a/..")  # who knows where, through a link: in the last batches only
IS_READ = {"read": True, "look": True, "write": False, "read_and_write": False}  # parallel_safe


def grade_groups_by_path(groups_by_path: Callable[[Sequence[ToolCall], ToolBox], Groups]) -> None:
    """D. Random batches: no conflict, no group smaller than it has to be, the same outcome."""
    with attempt("groups_by_path", DEEP):
        for seed in range(360):
            rng, paths = random.Random(seed), PATHS if seed < 300 else PATHS + UPWARDS
            calls = [_random_call(rng, number, paths) for number in range(rng.randrange(9))]
            _check_paths(groups_by_path, calls, rng)
        many = [ToolCall(f"c{n}", "look", json.dumps({"path": f"f{n}"})) for n in range(100)]
        _check_paths(groups_by_path, many, random.Random(0))


def _random_call(rng: random.Random, number: int, paths: Sequence[str]) -> ToolCall:
    name = "fiction" if rng.random() < 0.04 else rng.choice([*IS_READ])
    arguments = json.dumps({"path": rng.choice(paths)})
    if rng.random() < 0.1:
        odd = ["", "[]", '"a"', '{"path": 7}', '{"file": "a"}', "[" * 100_000, "null"]
        arguments = rng.choice([*odd, '{"Path": "a"}'])
    return ToolCall(f"c{number}", name, arguments)


def _touches(call: ToolCall) -> tuple[str, bool] | None:
    """(file, whether it is a write), or None where nobody can tell."""
    try:
        path = json.loads(call.arguments)["path"]
        names = [name for name in path.split("/") if name not in ("", ".")]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    if call.name == "fiction" or ".." in path.split("/"):
        return None
    return "/".join(names), not IS_READ[call.name]


def _conflict(one: ToolCall, other: ToolCall) -> str:
    """Why the two may not run together, or ""."""
    a, b = _touches(one), _touches(other)
    if a is None or b is None:
        return "nobody knows what one of them touches"
    return "they name the same file, and one writes it" if a[0] == b[0] and (a[1] or b[1]) else ""


def _show(call: ToolCall) -> str:
    kind = {True: ", parallel_safe", False: "", None: ", no such tool"}[IS_READ.get(call.name)]
    return f"{call.name}{kind} {call.arguments[:30]}"


def _check_paths(
    groups_by_path: Callable[[Sequence[ToolCall], ToolBox], Groups],
    calls: Sequence[ToolCall],
    rng: random.Random,
) -> None:
    tools = ToolBox([Probe(name, is_read) for name, is_read in IS_READ.items()])
    got = groups_by_path(calls, tools)
    shown = [[_show(call) for call in group] for group in got]
    if [call for group in got for call in group] != calls or not all(got):
        raise mistake("every call once, in order, and no empty group", f"{shown}", DEEP)
    for group in got:
        for at, one in enumerate(group):
            for other in group[at + 1 :]:
                if why := _conflict(one, other):
                    pair = f"{_show(one)} and {_show(other)}"
                    raise mistake(f"{pair} in different groups: {why}", f"{shown}", DEEP)
    for before, after in pairwise(got):
        if not any(_conflict(one, after[0]) for one in before):
            expected = f"{_show(after[0])} to join the group before it: it disturbs no call of it"
            saw = str(shown) if len(shown) < 10 else f"it opens another after {len(before)} calls"
            raise mistake(expected, saw, DEEP)
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
