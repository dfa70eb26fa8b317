"""ajv, an implementation of JSON Schema that shares no code with ours, judges the same events.

It is pinned by `ajv/package-lock.json` and installed once into pytest's cache. Without npm and node
the comparison is skipped, unless REQUIRE_NODE is set.
"""

from __future__ import annotations

import copy
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from curriculum.trace.schema import SCHEMA, load_schema
from tests.golden import GOLDEN, ROOT
from tests.trace.corpus import FOLDER
from tests.trace.story import calls, error, event, failed, numbered, stop

AJV = Path(__file__).parent / "ajv"
OTHER_VALUES = (None, True, 0, -1, 1.5, 2**53, "", "x", "x\n", "A b", [], [1], {}, {"x": 1})


needs_node = pytest.mark.skipif(
    not os.environ.get("REQUIRE_NODE") and not (shutil.which("npm") and shutil.which("node")),
    reason="needs npm and node",
)


@pytest.fixture(scope="module")
def check(pytestconfig: pytest.Config) -> Path:
    """The script beside an installed ajv."""
    folder = Path(pytestconfig.cache.mkdir("ajv"))  # type: ignore[union-attr]
    lock = (AJV / "package-lock.json").read_bytes()
    installed = folder / "package-lock.json"
    is_done = (folder / "node_modules" / "ajv").is_dir() and installed.read_bytes() == lock
    for name in ("package.json", "package-lock.json", "check.js"):
        shutil.copy(AJV / name, folder)
    if not is_done:
        install = ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
        done = subprocess.run(install, cwd=folder, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, f"npm could not install ajv: {done.stderr[-2000:]}"
    return folder / "check.js"


def events_of_the_files() -> Iterator[Any]:
    """Every line of the goldens and the corpus that is JSON, whatever is wrong with it."""
    for path in (*sorted(GOLDEN.glob("*.jsonl")), *sorted(FOLDER.glob("*.jsonl"))):
        for line in path.read_bytes().splitlines():
            try:
                made = json.loads(line)
                json.dumps(made, allow_nan=False)  # JSON has no such number, so node has none
            except ValueError:
                continue
            yield made


def broken(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """An event with each of its fields left out, each changed, and a field too many anywhere."""
    yield node

    def walk(place: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        steps = range(len(place)) if isinstance(place, list) else list(place)
        for step in steps:
            yield (*path, step)
            if isinstance(place[step], (dict, list)):
                yield from walk(place[step], (*path, step))

    for *path, last in [*walk(node, ())]:

        def made(path: list[Any] = path) -> tuple[dict[str, Any], Any]:
            root = copy.deepcopy(node)
            place: Any = root
            for step in path:
                place = place[step]
            return root, place

        root, place = made()
        del place[last]
        yield root
        for value in OTHER_VALUES:
            root, place = made()
            place[last] = value
            yield root
        root, place = made()
        if isinstance(place, dict):
            place["surplus"] = 1
            yield root


def all_events() -> list[Any]:
    story = [*calls()[:-1], failed(3), error(), event("x.acme.note", "harness"), stop()]
    marked = numbered(story)
    marked[1]["redaction"] = {"status": "redacted", "policy": "p", "items": ["/payload/content"]}
    marked[1]["ext"] = {"acme.note": {"any": 1}}
    return [*events_of_the_files(), *(made for one in marked for made in broken(one))]


@needs_node
def test_ajv_and_our_engine_agree_on_every_event(check: Path) -> None:
    events = all_events()
    done = subprocess.run(
        ["node", check, ROOT / "schemas" / SCHEMA],
        input="".join(json.dumps(one) + "\n" for one in events),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    theirs = [line == "true" for line in done.stdout.splitlines()]
    whole = jsonschema_rs.Draft202012Validator(load_schema())
    ours = [whole.is_valid(one) for one in events]
    assert len(theirs) == len(ours) > 5_000
    assert 100 < sum(ours) < len(ours)
    assert [one for one, a, b in zip(events, ours, theirs, strict=True) if a != b] == []


def test_the_lock_names_no_host_to_download_from() -> None:
    assert '"resolved"' not in (AJV / "package-lock.json").read_text("utf-8")
