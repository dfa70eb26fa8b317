"""The adapters against a mock server that others wrote (npm: @copilotkit/aimock), end to end.

It is pinned by `aimock/package-lock.json` and installed once into pytest's cache. It needs npm and
Node 20.15, which Debian 12 does not have; without them these tests are skipped, unless REQUIRE_NODE
is set.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from curriculum.core.errors import RateLimitError, TransientModelError
from curriculum.core.loop import AgentRunner, RunResult
from curriculum.core.tools import ToolBox
from curriculum.core.trace import to_json
from curriculum.grading.model_under_test import Echo
from curriculum.providers.endpoint import Endpoint
from tests.providers.wires import WIRES

HERE = Path(__file__).parent / "aimock"
NODE = (20, 15)


def has_node() -> bool:
    if shutil.which("npm") is None or shutil.which("node") is None:
        return False
    said = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout
    found = re.match(r"v(\d+)\.(\d+)", said)
    return found is not None and (int(found[1]), int(found[2])) >= NODE


pytestmark = pytest.mark.skipif(
    not os.environ.get("REQUIRE_NODE") and not has_node(),
    reason="needs npm and Node 20.15 or newer",
)


@pytest.fixture(scope="module")
def url(pytestconfig: pytest.Config) -> Iterator[str]:
    """The base URL of the running mock server."""
    folder = Path(pytestconfig.cache.mkdir("aimock"))  # type: ignore[union-attr]
    program = folder / "node_modules/@copilotkit/aimock/dist/cli.js"
    lock = (HERE / "package-lock.json").read_bytes()
    if not program.exists() or (folder / "package-lock.json").read_bytes() != lock:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / name, folder)
        install = ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
        done = subprocess.run(install, cwd=folder, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, f"npm could not install aimock: {done.stderr[-2000:]}"
    command = ["node", str(program), "-p", "0", "-c", "5", "-f", str(HERE / "fixtures.json")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        try:
            assert server.stdout is not None
            lines = []
            for line in server.stdout:
                lines.append(line)
                if found := re.search(r"listening on (http://\S+)", line):
                    yield f"{found[1]}/v1"
                    break
            else:
                raise AssertionError(f"aimock did not start: {''.join(lines)}")
        finally:
            server.kill()


def ask(url: str, wire: str, question: str) -> RunResult:
    model = WIRES[wire].model(Endpoint(url, "test-key", silence_seconds=20.0))
    tools = ToolBox([Echo("echo")], granted=["echo"])
    return AgentRunner(model, tools, system_prompt="be brief").run(question)


@pytest.mark.parametrize("wire", WIRES)
def test_a_question_becomes_a_call_and_then_an_answer(url: str, wire: str) -> None:
    result = ask(url, wire, "which go is it?")
    assert result.stop_reason == "completed", result.error
    assert result.final_text == "This computer has Go 1.27.1 \U0001f600, says the tool."
    (call,) = [event for event in result.events if event.type == "tool.call"]
    assert json.loads(str(call.payload["arguments"])) == {"text": "go version"}
    assert "secret thoughts" not in "".join(to_json(event.payload) for event in result.events)
    deltas = [event for event in result.events if event.type == "model.delta"]
    assert len(deltas) > 5


@pytest.mark.parametrize("wire", WIRES)
def test_its_rate_limit_is_one_for_us(url: str, wire: str) -> None:
    error = ask(url, wire, "too fast").error
    assert isinstance(error, RateLimitError)
    assert error.retryable


@pytest.mark.parametrize("wire", WIRES)
def test_its_broken_stream_is_no_answer(url: str, wire: str) -> None:
    result = ask(url, wire, "break off")
    assert isinstance(result.error, TransientModelError)
    assert [message.role for message in result.messages] == ["system", "user"]
