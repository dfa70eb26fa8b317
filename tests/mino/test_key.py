"""The key is nowhere to be seen: screen, stderr, trace, `--json`, session file, title of a session.

A hostile model says it back in every way, cut at every place; a server repeats it in its errors; a
person pastes it; a command prints it. After each test the desk looks through all files as well.
"""

from __future__ import annotations

import json
import resource
from typing import Any

import pytest

from curriculum.providers.key_mask import MARK
from curriculum.providers.scripted_endpoint import ScriptedEndpoint
from tests.mino.desk import KEY, Desk, calls, outputs, says, script
from tests.mino.person import squeezed
from tests.mino.test_run import validate

PROTOCOLS = ("responses", "chat", "anthropic")
CUTS = [
    *[(KEY[:at], KEY[at:]) for at in range(1, len(KEY))],
    *[(KEY[:at], KEY[at : at + 2], KEY[at + 2 :]) for at in range(1, len(KEY) - 2, 4)],
    tuple(KEY),
]
PIECES = [piece for cut in CUTS for piece in (*cut, " ")]
ESCAPED = "".join(f"\\u{ord(char):04x}" for char in KEY)
HOSTILE = [
    KEY,
    f'{{"command":"echo {KEY}"}}',
    f'{{"command":"echo {ESCAPED}"}}',
    f'{{"command":"true","{ESCAPED}":1}}',
    f'{{"{"x" * 30}{KEY}":1}}',
    f'{{"a":"{KEY}","a":"{KEY}"}}',
]


def environment(desk: Desk, server: ScriptedEndpoint, protocol: str) -> dict[str, str]:
    """mino with the key, at that endpoint, by that protocol."""
    reached = {"MINO_BASE_URL": server.url, "MINO_API_KEY": KEY, "MINO_MODEL": "m"}
    return {**desk.environment, **reached, "MINO_PROTOCOL": protocol}


def assert_hidden(text: str) -> list[dict[str, Any]]:
    """The trace is valid and without the key, also where its deltas are put together."""
    assert KEY not in text
    assert validate(text).returncode == 0, validate(text).stdout
    events = [json.loads(line) for line in text.splitlines()]
    deltas = "".join(e["payload"]["text"] for e in events if e["type"] == "model.delta")
    assert KEY not in deltas
    return events


def test_what_is_looked_through_costs_its_length_and_not_its_square(desk: Desk) -> None:
    """`desk.run` waits a minute; a search that begins anew at each quote would take hours."""
    asked = [{"call_id": "call_1", "name": "bash", "arguments": '"\\' * 300_000}]
    error = {"error": {"message": "encrypted content " * 400_000}}
    failed = {"send": [{"event": {"type": "error", **error}}]}
    with script({"answer": {"calls": asked}}, failed) as server:
        ran = desk.run("run", "go", env=environment(desk, server, "responses"))
    assert ran.returncode == 1
    assert "Tool result: invalid_arguments" in ran.stderr
    assert "could not answer: encrypted content" in ran.stderr


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_model_that_says_the_key_back_gives_nothing_away(desk: Desk, protocol: str) -> None:
    asked = [
        {"call_id": f"call_{number}", "name": "bash", "arguments": arguments}
        for number, arguments in enumerate(HOSTILE)
    ]
    trace = desk.project / "t.jsonl"
    with script({"answer": {"pieces": PIECES, "calls": asked}}, says(f"Bye, {KEY}")) as server:
        ran = desk.run(
            *("run", "go", "--json", "--trace", str(trace), "--allow-rule", "bash:*"),
            env=environment(desk, server, protocol),
        )
        assert ran.returncode == 0, ran.stderr
        assert KEY not in server.requests[1].body.decode()
    for text in (ran.stdout, trace.read_text()):
        events = assert_hidden(text)
        first, _ = [e["payload"] for e in events if e["type"] == "model.response"]
        assert first["content"] == f"{MARK} " * len(CUTS)
        results = [e["payload"] for e in events if e["type"] == "tool.result"]
        assert [result["output"].strip() for result in results[1:3]] == [MARK, MARK]
    assert MARK in desk.sessions[0].read_text()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_model_that_names_a_tool_by_the_key_gives_nothing_away(desk: Desk, protocol: str) -> None:
    call = {"call_id": "call_1", "name": KEY, "arguments": "{}"}
    with script({"answer": {"calls": [call]}}) as server:
        ran = desk.run("run", "go", "--json", env=environment(desk, server, protocol))
    assert ran.returncode == 1
    assert "named a tool or a call by the API key" in ran.stderr
    assert_hidden(ran.stdout)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_server_that_repeats_the_key_in_an_error_gives_nothing_away(
    desk: Desk, protocol: str
) -> None:
    refused = {"status": 401, "send": [{"raw": f"no, not {KEY}"}]}
    with script(refused) as server:
        ran = desk.run("run", "go", "--json", env=environment(desk, server, protocol))
    assert ran.returncode == 1
    assert f"not {MARK}" in ran.stderr
    assert_hidden(ran.stdout)


def test_on_the_screen_no_pieces_make_up_the_key(desk: Desk) -> None:
    with script({"answer": {"pieces": ["So: ", KEY[:9], KEY[9:]]}}) as server:
        with desk.person(server) as person:
            person.say("go")
            person.see(f"Assistant> So: {MARK}")
            person.say("/quit")
            assert person.leave() == 0
        assert KEY not in squeezed(person.text())


def test_a_key_that_a_person_pastes_is_not_kept(desk: Desk) -> None:
    """The model is told that something stood there; the title of the session tells it too."""
    with script(says("Fine."), says("Fine.")) as server:
        ran = desk.run("run", f"{KEY} is my key", "--json", env=desk.at(server))
        assert_hidden(ran.stdout)
        assert f"{MARK} is my key" in server.requests[0].body.decode()
        with desk.person(server, "--resume") as person:
            person.say(f"again: {KEY}")
            person.see("Assistant> Fine.")
            person.say("/quit")
            assert person.leave() == 0
        assert f"again: {MARK}" in server.requests[1].body.decode()
    assert MARK in desk.run("sessions").stdout


def test_a_key_that_a_command_prints_is_on_no_screen(desk: Desk) -> None:
    """The session has it (J5): what the model was told is not changed."""
    (desk.project / "holds_the_key").write_text(f"is {KEY}")
    home = {"MINO_HOME": str(desk.home / "holds_the_key")}
    with script(calls("cat holds_the_key"), says("Done.")) as server:
        allowed = ("run", "go", "--allow-rule", "bash:*")
        ran = desk.run(*allowed, env=desk.at(server, **home))
        assert ran.returncode == 0
        assert f"is {MARK}" in ran.stderr
        assert outputs(server.requests[1])[0]["output"] == f"is {KEY}"


def test_what_the_screen_has_missed_is_masked_too(desk: Desk) -> None:
    """A trace that cannot be written silences the screen; the rest is shown at the end."""
    (desk.project / "holds_the_key").write_text(f"is {KEY}")
    home = {"MINO_HOME": str(desk.home / "holds_the_key")}
    trace = desk.project / "t.jsonl"
    with (
        script(calls("cat holds_the_key"), says("Done.")) as server,
        desk.person(server, "--trace", str(trace), env=home) as person,
    ):
        person.say("go")
        person.asked()
        room = trace.stat().st_size
        resource.prlimit(person.process.pid, resource.RLIMIT_FSIZE, (room, room))
        person.type("y\r")
        assert person.leave() == 4
        assert f"]is{MARK}" in squeezed(person.text())
        assert KEY not in squeezed(person.text())


@pytest.mark.parametrize("command", [("run", "go"), ("doctor",)])
@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--model", KEY), "--model: that is the API key; name a model"),
        (("--base-url", f"https://localhost/v1?key={KEY}"), "holds the API key; take it out"),
    ],
)
def test_a_key_in_the_wrong_place_is_refused_and_not_shown(
    desk: Desk, command: tuple[str, ...], given: tuple[str, str], said: str
) -> None:
    """The model and the address are shown, and kept."""
    ran = desk.run(*command, *given, env={**desk.environment, "OPENAI_API_KEY": KEY})
    assert ran.returncode in (1, 2)
    assert said in ran.stdout + ran.stderr
    assert desk.sessions == []


def test_the_demo_masks_no_word_of_its_own(desk: Desk) -> None:
    """Its key is the word demo, and so is its model."""
    ran = desk.run("run", "--demo", "hi", "--json")
    assert json.loads(ran.stdout.splitlines()[0])["payload"]["model"] == "demo"
    assert "REDACTED" not in ran.stdout
