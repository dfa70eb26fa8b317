"""Where mino's tests work: a home, a project folder, a fake `go`, and an endpoint that is scripted.

The key is planted, so that any place it gets to can be found.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from curriculum.providers.scripted_endpoint import ScriptedEndpoint
from tests.mino.person import ROOT, Person

KEY = "sk-planted-5e1f0c2b7a"
GO_VERSION = "go version go1.27.1 linux/amd64"
# mino on a clock that is 40 seconds ahead as soon as there is a file `late` in the project.
LATE = """
import os, sys, time
real = time.monotonic_ns
time.monotonic_ns = lambda: real() + (40 * 10**9 if os.path.exists("late") else 0)
from curriculum.mino.__main__ import main
sys.exit(main())
"""


class Desk:
    """One home and one project."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.project = folder / "project"
        self.bin = folder / "bin"
        for path in (self.home, self.project, self.bin):
            path.mkdir()
        go = self.bin / "go"
        go.write_text(f'#!/bin/sh\necho "{GO_VERSION}"\n')
        go.chmod(0o755)
        self.environment = {
            "HOME": str(self.home),
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
        }

    def at(self, server: ScriptedEndpoint, **more: str) -> dict[str, str]:
        """The environment for that endpoint, with the key."""
        reached = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": KEY, "OPENAI_MODEL": "m"}
        return {**self.environment, **reached, **more}

    def at_late(self, server: ScriptedEndpoint) -> dict[str, str]:
        """The same for the module `late`, which is mino on a clock that the test sets."""
        (self.bin / "late.py").write_text(LATE)
        return self.at(server, PYTHONPATH=f"{ROOT}:{self.bin}")

    def person(self, server: ScriptedEndpoint | None, *arguments: str, **more: Any) -> Person:
        """A person before mino, with that endpoint or with `--demo`."""
        environment = self.at(server) if server else self.environment
        given = list(arguments) if server else ["--demo", *arguments]
        environment = {**environment, **more.pop("env", {})}
        return Person(given, environment, more.pop("cwd", self.project), **more)

    def run(
        self,
        *arguments: str,
        env: Mapping[str, str] | None = None,
        module: str = "curriculum.mino",
        **more: Any,
    ) -> subprocess.CompletedProcess[str]:
        """`mino ARGUMENTS` without a terminal."""
        more.setdefault("stdin", subprocess.DEVNULL)
        more.setdefault("cwd", self.project)
        ran = subprocess.run(
            [sys.executable, "-m", module, *arguments],
            env=dict(env if env is not None else self.environment),
            capture_output=True,
            text=True,
            timeout=60,
            **more,
        )
        assert KEY not in ran.stdout + ran.stderr
        assert "Traceback" not in ran.stderr, ran.stderr
        return ran

    @property
    def sessions(self) -> list[Path]:
        """The session files."""
        return sorted((self.home / ".mino" / "sessions").glob("*.jsonl"))

    def records(self, path: Path | None = None) -> list[dict[str, Any]]:
        """The records of the session (the only one, if none is named)."""
        if path is None:
            (path,) = self.sessions
        return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]

    def kinds(self) -> list[str]:
        """The kinds of the records of the only session, header left out."""
        return [record["kind"] for record in self.records()][1:]

    def results(self) -> list[dict[str, Any]]:
        """The data of its tool results."""
        return [record["data"] for record in self.records() if record["kind"] == "tool_result"]


def calls(*commands: str, prefix: str = "call") -> dict[str, Any]:
    """An exchange that asks for bash commands."""
    asked = [
        {"call_id": f"{prefix}_{number}", "name": "bash", "arguments": {"command": command}}
        for number, command in enumerate(commands, 1)
    ]
    return {"answer": {"calls": asked}}


def says(text: str) -> dict[str, Any]:
    """An exchange that answers with text."""
    return {"answer": {"text": text}}


def script(*exchanges: Mapping[str, Any]) -> ScriptedEndpoint:
    """An endpoint that plays these exchanges."""
    return ScriptedEndpoint({"exchanges": list(exchanges)})


def outputs(request: Any) -> list[dict[str, Any]]:
    """The results of calls that a request tells the model, in order."""
    items: Iterable[dict[str, Any]] = request.json()["input"]
    return [
        json.loads(item["output"]) for item in items if item.get("type") == "function_call_output"
    ]
