"""The Go-version story on a real terminal, and how text arrives on the screen."""

from __future__ import annotations

import json
import os
import re

import pytest

from curriculum.mino.demo import HELLO
from curriculum.providers.scripted_answers import responses_events
from tests.mino.desk import GO_VERSION, Desk, calls, outputs, says, script
from tests.mino.person import QUESTION

ASKED = "Run go version and tell me which Go version is installed."
ANSWER = "This computer has Go 1.27.1 for Linux."


def test_the_go_version_story_with_yes(desk: Desk) -> None:
    with script(calls("go version"), says(ANSWER)) as server, desk.person(server) as person:
        person.say(ASKED)
        shown = person.see(QUESTION)
        story = shown[shown.index("You>") :]
        assert story.startswith(
            f'You> {ASKED}\n\nAssistant>\n[Tool: bash]\nCommand: "go version"\n'
        )
        for line in (
            f'Directory: "{desk.project}"',
            "Timeout: 30 s",
            "Output limit: 65536 bytes",
            "Permissions: runs with your account's permissions; there is no sandbox",
            "Size: 10 bytes in 1 line",
        ):
            assert re.sub(r"\n\| ", "", story).count(f"\n{line}\n") == 1, line
        assert "Environment: " in story
        person.answer("y")
        shown = person.see("\nYou>", last=True)
        assert shown.endswith(
            f"{QUESTION} y\n\n[Tool result: completed; exit code 0]\n| {GO_VERSION}\n\n"
            f"Assistant> {ANSWER}\n\nYou>"
        )
        person.say("/quit")
        assert person.leave() == 0
    assert [result["status"] for result in outputs(server.requests[1])] == ["completed"]
    assert outputs(server.requests[1])[0]["output"] == f"{GO_VERSION}\n"
    assert desk.kinds() == [
        "user_input",
        "model_response",
        "tool_start",
        "tool_result",
        "model_response",
        "turn_end",
    ]


@pytest.mark.parametrize("answer", ["n", ""], ids=["no", "enter"])
def test_the_go_version_story_with_a_refusal(desk: Desk, answer: str) -> None:
    (desk.bin / "go").write_text(f"#!/bin/sh\ntouch {desk.project}/ran\n")
    exchanges = (calls("go version"), says("I could not check."))
    with script(*exchanges) as server, desk.person(server) as person:
        person.say(ASKED)
        person.answer(answer)
        shown = person.see("Assistant> I could not check.")
        assert f"\n{QUESTION} {answer}".rstrip() + "\n\n[Tool result: denied]\n" in shown
        person.say("/quit")
        assert person.leave() == 0
    assert not (desk.project / "ran").exists()
    assert outputs(server.requests[1])[0]["status"] == "denied"
    assert desk.kinds() == [
        "user_input",
        "model_response",
        "tool_result",
        "model_response",
        "turn_end",
    ]


def test_the_demo_needs_no_key_and_no_network(desk: Desk) -> None:
    with desk.person(None) as person:
        person.say("Run go version and tell me which Go version is installed.")
        person.answer("yes")
        person.see(f"Assistant> The command printed: {GO_VERSION}")
        person.say("hello")
        person.see("Assistant> I am a script, not a model")
        person.see("\nYou>", last=True)
        person.type("\x04")
        assert person.leave() == 0


@pytest.mark.parametrize(
    "prompt", ["Run `go version`", "`go version`", "Please run this: `go version`, then stop."]
)
def test_the_demo_takes_what_stands_between_backticks_for_the_command(
    desk: Desk, prompt: str
) -> None:
    ran = desk.run("run", "--demo", "--allow-rule", "bash=go version", prompt)
    assert (ran.returncode, ran.stdout) == (0, f"The command printed: {GO_VERSION}\n")


def test_what_the_demo_suggests_runs_on_every_machine(desk: Desk) -> None:
    suggested = HELLO.partition("for example: ")[2]
    ran = desk.run("run", "--demo", "--allow-rule", "bash=uname -s", suggested)
    assert (ran.returncode, ran.stdout) == (0, f"The command printed: {os.uname().sysname}\n")


def test_the_demo_says_who_refused(desk: Desk) -> None:
    ran = desk.run("run", "--demo", "run echo one")
    words = "I could not check, as no rule allows it. Nothing was run.\n"
    assert (ran.returncode, ran.stdout) == (0, words)
    with desk.person(None) as person:
        person.say("run echo one")
        person.answer("n")
        person.see("Assistant> You refused the command, so I could not check. Nothing was run.")
        person.say("/quit")
        assert person.leave() == 0


def test_a_character_is_on_the_screen_before_the_next_one_is_sent(desk: Desk) -> None:
    steps = []
    for event in responses_events({"pieces": ["A", "B", "C"]}):
        steps.append({"event": event})
        if event["type"] == "response.output_text.delta":
            steps.append({"gate": f"after {event['delta']}"})
    with script({"send": steps}) as server, desk.person(server) as person:
        person.say("go")
        for piece in ("A", "AB", "ABC"):
            shown = person.see(f"\nAssistant> {piece}")
            assert f"Assistant> {piece}" in shown.split("\n")
            server.open(f"after {piece[-1]}")
        person.see("\nYou>", times=2)


def test_each_turn_sees_the_turns_before_it(desk: Desk) -> None:
    with script(says("One."), says("Two.")) as server, desk.person(server) as person:
        person.say("first")
        person.see("Assistant> One.")
        person.say("second")
        person.see("Assistant> Two.")
    items = server.requests[1].json()["input"]
    texts = [json.dumps(item) for item in items]
    assert [text in joined for text, joined in zip(("first", "One.", "second"), texts, strict=True)]
    assert len(items) == 3


def test_pasted_lines_are_one_message(desk: Desk) -> None:
    with script(says("Read.")) as server, desk.person(server) as person:
        person.see("\nYou>", last=True)
        person.type("\x1b[200~one\ntwo\x1b[201~\r")
        person.see("Assistant> Read.")
    assert server.requests[0].json()["input"][-1]["content"] == "one\ntwo"
