"""What the commands print for one long session, kept in `outputs/`: a change of a word is seen.

`python -m tests.sessions.outputs` writes the folder anew: read the diff before you commit it.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
from pathlib import Path
from typing import Any

from curriculum.core.journal import Record
from curriculum.core.trace import GoldenClock
from curriculum.sessions.__main__ import main
from curriculum.sessions.store import SessionStore
from tests.sessions.parts import QuickDisk

FOLDER = Path(__file__).parent / "outputs"
ENVIRONMENT = {"COLUMNS": "10000"}
LONG = "session-long"
WORDS = {
    "list": "list --home home",
    "list-none": "list --home nowhere",
    "show": "show long --home home",
    "export": "export session-l --home home",
    "export-bare": "export bare --to trace --home home",
    "resume-id": "resume-id bare --home home",
    "several": "show s --home home",
    "none": "show nothing --home home",
    "damaged": "show damaged --home home",
    "no-id": "show .hidden --home home",
    "usage": "show",
    "help": "--help",
    **{f"help-{name}": f"{name} --help" for name in ("list", "show", "export", "resume-id")},
}


def call(call_id: str, name: str = "bash", arguments: str = '{"command":"date"}') -> dict[str, str]:
    return {"call_id": call_id, "name": name, "arguments": arguments}


def result(call_id: str, status: str, **more: object) -> dict[str, object]:
    return {"call_id": call_id, "status": status, "output": "noon\n", **more}


# Three turns: one completed, one failed, one that the harness does not live to end.
TURNS: list[tuple[str, str, dict[str, Any]]] = [
    ("user_input", "turn-1", {"content": "What time\tis it?\nTell me " + "more " * 12}),
    (
        "model_response",
        "turn-1",
        {
            "content": "Let me look.",
            "tool_calls": [call("c 1"), call("c2", "read file", "no JSON"), call("c3", "")],
            "opaque": [{"id": "r1"}],
            "stop": False,
            "usage": {"input_tokens": 7},
        },
    ),
    ("tool_start", "turn-1", {"call_id": "c 1", "display": {"command": "date", "env": {"A": "1"}}}),
    (
        "tool_result",
        "turn-1",
        result("c 1", "failed", exit_code=3, truncated=True, notes=["first", "second"]),
    ),
    ("tool_result", "turn-1", result("c2", "denied", reason="approval-denied")),
    ("tool_start", "turn-1", {"call_id": "c3", "display": {}}),
    ("tool_result", "turn-1", result("c3", "completed", truncated=False, duration_us=5)),
    ("model_response", "turn-1", {"content": "It is noon.", "tool_calls": [], "stop": True}),
    ("turn_end", "turn-1", {"status": "completed"}),
    ("user_input", "turn-2", {"content": ""}),
    ("turn_end", "turn-2", {"status": "failed"}),
    ("user_input", "turn-3", {"content": "And now?"}),
    ("model_response", "turn-3", {"content": "", "tool_calls": [call("d1"), call("d2")]}),
    ("tool_start", "turn-3", {"call_id": "d1", "display": {"command": "date"}}),
]


def write_home(home: Path) -> None:
    """A long session that was recovered and has a torn tail, a bare one, and a damaged one."""
    about: dict[str, str | int] = {"model": "m-1", "harness": "mino 0.4", "max_turns": 3}
    clock, disk = GoldenClock(), QuickDisk()
    with SessionStore.create(home, LONG, about=about, clock=clock, disk=disk) as store:
        for kind, turn_id, data in TURNS:
            store.append(Record(kind, turn_id, data))  # type: ignore[arg-type]
    with SessionStore.open(home, LONG, clock=clock, disk=disk) as store:
        store.acknowledge(store.unacknowledged[0], by="policy")
    later = GoldenClock(1_800_000_000_000_000)
    for name in ("session-bare", "damaged"):
        with SessionStore.create(home, name, clock=later, disk=disk) as store:
            store.append(Record("user_input", "turn-1", {"content": "Hello."}))
    folder = home / "sessions"
    with (folder / f"{LONG}.jsonl").open("ab") as file:
        file.write(b'{"torn')
    with (folder / "damaged.jsonl").open("ab") as file:
        file.write(b"{}\n")


def printed(words: list[str]) -> str:
    """All that a command prints, and its exit code."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(words)
        except SystemExit as end:  # --help, and wrong usage
            code = int(end.code or 0)
    text = out.getvalue()
    if "--help" in words:  # Pythons differ in where they put blanks
        text = re.sub("[ \t]+", " ", text)
    return f"exit code {code}\n{text}-- stderr\n{err.getvalue()}"


def update() -> None:
    """Write the folder anew."""
    for path in FOLDER.glob("*.txt"):
        path.unlink()
    os.environ.update(ENVIRONMENT)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        write_home(Path("home"))
        for name, words in WORDS.items():
            (FOLDER / f"{name}.txt").write_text(printed(words.split()), "utf-8", newline="\n")


if __name__ == "__main__":
    update()
