"""What the commands print for one long run, kept in `outputs/`: a change of a word is seen.

`python -m tests.trace.outputs` writes the folder anew: read the diff before you commit it.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

from curriculum.core.trace import to_json
from curriculum.trace.__main__ import COMMANDS, main
from curriculum.trace.engines import make_engine
from curriculum.trace.film import open_film
from curriculum.trace.player import Player
from curriculum.trace.report import as_text
from curriculum.trace.stage import Stage
from curriculum.trace.validate import Options, validate
from tests.trace import corpus, story
from tests.trace.story import Event, numbered, to_bytes

FOLDER = Path(__file__).parent / "outputs"
SESSIONS = Path(__file__).parent / "sessions"
OF_AGENT = {
    "codex": "codex.jsonl",
    "claude-code": "claude_code.jsonl",
    "mini-swe-agent": "mini_swe_agent.traj.json",
}
ENVIRONMENT = {"COLUMNS": "10000", "LINES": "50", "TERM": "xterm"}
PRICES = '{"model": {"input": 3000000, "output": 15000000}}'
SECRET = "planted-secret-1"
WORDS = {
    "play": "play run.jsonl",
    "play-torn": "play --at 38 torn.jsonl",
    "stats": "stats run.jsonl --prices prices.json",
    "stats-json": "stats run.jsonl torn.jsonl --format json --prices prices.json",
    "stats-short": "stats short.jsonl torn.jsonl",
    "validate": "validate run.jsonl torn.jsonl broken.jsonl short.jsonl",
    "validate-json": "validate --format json --canary planted-secret-1 run.jsonl broken.jsonl",
    "diff": "diff run.jsonl other.jsonl",
    "diff-json": "diff run.jsonl other.jsonl --format json",
    "diff-torn": "diff short.jsonl torn.jsonl",
    "redact": "redact torn.jsonl --secret-file secrets",
    "redact-check": "redact --check torn.jsonl short.jsonl --secret-file secrets",
    "otel": "export --to otel run.jsonl --content",
    "otel-facts": "export --to otel run.jsonl",
    "perfetto": "export --to perfetto run.jsonl --content",
    "asciicast": "export --to asciicast run.jsonl",
    "atif": "export --to atif run.jsonl",
    "help": "--help",
    **{f"help-{name}": f"{name} --help" for name in COMMANDS},
    **{f"import-{agent}": f"import --from {agent} {file}" for agent, file in OF_AGENT.items()},
}
SCREENS = {
    "screen": "120 40 1 6 enter",
    "screen-first": "100 16",
    "screen-narrow": "60 24 1 9 enter e 1",
    "screen-end": "84 14 G n +",
    "screen-help": "100 30 ? -",
    "screen-small": "47 12",
}
# On a terminal that has colours; each change of style stands in the text as ‹1;31›.
COLOURED = {"stats-colours": "stats run.jsonl"}
COLOURED_SCREENS = {"screen-colours": "100 30 3 5 enter", "screen-colours-help": "84 14 G ?"}
# Whatever is asked for wrongly, and what is said to it.
REFUSED = """
validate none.jsonl .
validate run.jsonl --canary abc
validate run.jsonl --secret-file none
validate run.jsonl --secret-file latin
validate run.jsonl --max-errors -1
validate run.jsonl --jobs x
diff - -
diff run.jsonl none.jsonl
diff run.jsonl broken.jsonl
stats broken.jsonl
stats short
validate short
stats bare.jsonl
stats typed.jsonl
stats misshapen.jsonl
stats run.jsonl --prices none.json
stats run.jsonl --prices run.jsonl
stats run.jsonl --prices names.json
stats run.jsonl --prices fields.json
stats run.jsonl --prices numbers.json
play none.jsonl
play run.jsonl --at 0
play run.jsonl --at 1234567890
play run.jsonl --at x
play run.jsonl --idle-limit -1
play run.jsonl --idle-limit inf
play run.jsonl --idle-limit soon
redact run.jsonl torn.jsonl
redact run.jsonl --check --output safe.jsonl
redact run.jsonl --secret-env NOT_THERE
redact run.jsonl --secret-file short
redact calls.jsonl --secret-file id
redact torn.jsonl --check --secret-file words
export run.jsonl
import --from codex run.jsonl
import --from claude-code run.jsonl
import --from mini-swe-agent run.jsonl
import --from mini-swe-agent format.json
view run.jsonl run.jsonl run.jsonl
view - -
view run.jsonl --output run.jsonl
view --serve run.jsonl other.jsonl
view --serve -
view --serve run.jsonl --output page.html
view run.jsonl --no-open --output page.html
view broken.jsonl --no-open --output other.html
"""
NAMES = (*WORDS, *SCREENS, *COLOURED, *COLOURED_SCREENS, "corpus", "damaged", "refused")


def long_run() -> list[Event]:
    """A run with an event of every type, in which much goes wrong; as slow as a real one."""
    bash = {"call_id": "call-1", "name": "bash", "arguments": '{"command":"date; exit 3"}'}
    read = {"call_id": "call 2", "name": "read file", "arguments": "no JSON\n"}
    write = {"call_id": "call-3", "name": "write", "arguments": "[1]"}
    wait = {"request_id": "request-2", "attempt": 1, "cause": "overloaded", "wait_us": 500_000}
    roles = ["user", "assistant", "tool", "tool", "tool"]
    usage = {"input_tokens": 1200, "output_tokens": 34}
    spend = {"resource": "money", "unit": "micro-dollars", "spent": 3, "limit": 9, "remaining": 6}
    recover = {"session_id": "session-1", "closed": {"not_executed": 0, "unknown": 1}}
    begin = {"call_id": "call-3", "display": {"path": "notes.txt", "bytes": 7}}
    asked = {"approval_id": "approval-2", "call_id": "call 2"}
    no = {**asked, "decision": "deny", "rationale": f"not {SECRET}, and nothing else either"}
    events = [
        story.start(),
        story.event("session.recover", "harness", **recover),
        story.event("journal.append", "harness", record_kind="user_input", position=1),
        story.user(f"What time is it, {SECRET}? " + "Tell me. " * 8),
        story.request(1, "user"),
        story.event("budget.spend", "policy", **spend),
        story.delta(1, 0, "Let me\n"),
        story.delta(1, 1, "look \x1b[2J."),
        story.response(
            1,
            "Let me\nlook \x1b[2J.",
            *(bash, read, write),
            chunks={"count": 2, "complete": True},
            usage=usage,
        ),
        story.call(**bash),
        story.question(display={"command": "date; exit 3", "directory": "/"}),
        story.decision(),
        story.begun(),
        story.output(),
        story.event("tool.output", "tool", call_id="call-1", index=1, stream="stderr", text="é\n"),
        story.result("failed", exit_code=3, duration_us=2000, truncated=True),
        story.call(**read),
        story.question(**asked, display={"path": "x y", "limit": 3}),
        story.decision("deny", "policy", **no),
        story.result("denied", call_id="call 2", reason="approval-denied"),
        story.call(**write),
        story.event("tool.start", "harness", **begin),
        story.result(call_id="call-3"),
        story.request(2, *roles, turn=2),
        story.failed(2),
        story.event("retry.wait", "harness", **wait),
        story.request(3, *roles, turn=2, attempt=2, retry_of="request-2"),
        story.response(3, "It is noon.", usage={"input_tokens": 9, "output_tokens": 1}),
        story.event("x.acme.note", "harness", mood="good"),
        story.user(""),
        compacted(),
        story.request(4, "user", "assistant", "user", turn=1),
        story.response(4, "", story.CALL | {"call_id": "call-4"}),
        story.call(4, call_id="call-4"),
        story.begun("call-4"),
        story.result("unknown", call_id="call-4"),
        story.event("outcome.acknowledge", "user", call_id="call-4", by="user"),
        story.event("cancel.request", "user", by="user"),
        story.error("cancelled"),
        story.stop("cancelled"),
    ]
    made = numbered(events)
    at = 0
    for index, event in enumerate(made):
        at += (index * 37 % 11) ** 6
        event["elapsed_us"] = at
    return made


def compacted() -> Event:
    about = {"policy": "drop-turns", "reason": "budget", "dropped": [1, 2, 3, 4]}
    counts = {"message_count_before": 7, "message_count": 3}
    return story.event("context.compact", "harness", **about, **counts)


def write_files(folder: Path) -> None:
    """What the commands are given."""
    run = long_run()
    whole = to_bytes(run)
    other = numbered([*run[:18], story.decision("allow", "user", **run[18]["payload"]), *run[19:]])
    other[18]["payload"]["decision"] = "allow"
    broken = to_bytes([*run[:4], *run[5:12], *run[11:]]) + b"no event\n" * 3 + b"{}\n"
    (folder / "run.jsonl").write_bytes(whole)
    (folder / "torn.jsonl").write_bytes(whole[:-30])
    (folder / "short.jsonl").write_bytes(to_bytes(numbered(story.calls()[:3])))
    (folder / "other.jsonl").write_bytes(to_bytes(other))
    (folder / "broken.jsonl").write_bytes(broken)
    (folder / "prices.json").write_text(PRICES)
    (folder / "secrets").write_text(SECRET)
    texts = {
        "names.json": "[]",
        "fields.json": '{"m": {"input": 1}}',
        "numbers.json": '{"m": {"input": 1, "output": true}}',
        "format.json": '{"messages": [], "trajectory_format": "swe-1"}',
        "bare.jsonl": '{"type": "x.acme.note"}\n',
        "typed.jsonl": '{"type": 1}\n',
        "misshapen.jsonl": to_json({**run[0], "elapsed_us": -1}) + "\n",
        "short": "abc",
        "id": "request-1",
        "words": "What time\nTell me. Tell\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "latin").write_bytes(b"\xe9t\xe9s")
    (folder / "calls.jsonl").write_bytes(to_bytes(numbered(story.calls())))
    for name in OF_AGENT.values():
        (folder / name).write_bytes((SESSIONS / name).read_bytes())


class Terminal(io.StringIO):
    """Takes what a terminal would be sent."""

    def isatty(self) -> bool:
        return True


def styled(text: str) -> str:
    """The text with its changes of style made visible."""
    return re.sub("\x1b\\[([0-9;]*)m", r"‹\1›", text)


def printed(words: list[str], out: io.StringIO | None = None) -> str:
    """All that a command prints, and its exit code."""
    out, err = out or io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(words)
        except SystemExit as end:  # --help
            code = int(end.code or 0)
    text = out.getvalue()
    if words[0] == "export":  # one long line: broken up so that a diff shows where it changed
        text = text.replace("}, {", "},\n{")
    if "--help" in words:  # Pythons differ in where they put blanks
        text = re.sub("[ \t]+", " ", text)
    text = re.sub('("curriculum.trace", "version": )"[^"]*"', r'\1"…"', text)
    return f"exit code {code}\n{text}-- stderr\n{err.getvalue()}"


def drawn(screen: str, has_colour: bool = False) -> str:
    """What the player shows after some keys: `COLUMNS ROWS KEY...`."""
    columns, rows, *keys = screen.split()
    with open_film("run.jsonl", make_engine()) as film:
        player = Player(film, 1.0)
        for key in keys:
            player.press(key, 0.0)
        lines = Stage(has_colour).draw(player, int(columns), int(rows))
    return "".join(f"{line.rstrip()}\n" for line in lines)


def judged(engine_name: str) -> str:
    """The verdict on each file of the corpus of broken traces, and every finding with its fix."""
    manifest = json.loads((corpus.FOLDER / "manifest.json").read_bytes())
    engine = make_engine(engine_name)
    lines: list[str] = []
    for name, entry in manifest.items():
        options = Options(entry.get("strict", False), tuple(entry.get("secrets", ())))
        read = io.BytesIO((corpus.FOLDER / name).read_bytes()).read
        lines += as_text(name, validate(read, engine, options))
    return "".join(f"{line}\n" for line in lines)


def damaged() -> str:
    """What a line of the long run leads to that is missing, doubled, moved, unreadable or odd."""
    run = long_run()
    engine = make_engine()
    told: list[str] = []

    def tell(index: int, how: str, lines: list[bytes]) -> None:
        report = validate(io.BytesIO(b"".join(lines)).read, engine)
        told.append(f"line {index + 1} {run[index]['type']} {how}: {report.verdict.name.lower()}")
        found = [f"  {f.line} {f.code} {f.pointer} {f.message}" for f in report.findings]
        told.extend(found)

    whole = [to_bytes([event]) for event in run]
    for index, event in enumerate(run):
        before, line, after = whole[:index], whole[index], whole[index + 1 :]
        tell(index, "missing", before + after)
        tell(index, "twice", [*before, line, line, *after])
        tell(index, "unreadable", [*before, b"{\n", *after])
        tell(index, "one later", [*before, *after[:1], line, *after[1:]])
        renumbered = [one for at, one in enumerate(run) if at != index]
        tell(index, "never written", [to_bytes([one]) for one in numbered(renumbered)])
        renumbered.insert(index, event)
        renumbered.insert(index, event)
        tell(index, "written twice", [to_bytes([one]) for one in numbered(renumbered)])
        for field in sorted(event["payload"]):
            odd = {**event, "payload": {**event["payload"], field: other(event["payload"][field])}}
            tell(index, f"with another {field}", [*before, to_bytes([odd]), *after])
    return "".join(f"{line}\n" for line in told)


def other(value: Any) -> Any:
    """Another value of the same kind, as far as there is one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return f"{value}-other"
    return value[:-1] if isinstance(value, list) else {}


def made(name: str) -> str:
    """The text of one output, made in the current folder from what `write_files` put there."""
    if name == "corpus":
        return judged("auto")
    if name == "damaged":
        return damaged()
    if name == "refused":
        asked = REFUSED.strip().splitlines()
        return "".join(f"$ {words}\n{printed(words.split())}" for words in asked)
    if name in COLOURED:
        return styled(printed(COLOURED[name].split(), Terminal()))
    if name in COLOURED_SCREENS:
        return styled(drawn(COLOURED_SCREENS[name], has_colour=True))
    return drawn(SCREENS[name]) if name in SCREENS else printed(WORDS[name].split())


def update() -> None:
    """Write the folder anew."""
    for path in FOLDER.glob("*.txt"):
        path.unlink()
    os.environ.update(ENVIRONMENT)
    os.environ.pop("NO_COLOR", None)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        write_files(Path())
        for name in NAMES:
            (FOLDER / f"{name}.txt").write_text(made(name), "utf-8", newline="\n")


if __name__ == "__main__":
    update()
