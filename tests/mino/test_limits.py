"""The production layers in mino: deadline, budgets, context, files beside Bash, protocols.

Each through the real process, in `mino run` and on a real terminal; its trace validates.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from curriculum.core.trace import to_json
from curriculum.mino.config import ConfigError, read_settings
from curriculum.mino.limits import in_dollars
from curriculum.providers.scripted_endpoint import ScriptedEndpoint
from tests.mino.desk import KEY, Desk, calls, outputs, says, script
from tests.mino.person import QUESTION, Person, squeezed
from tests.mino.test_run import validate
from tests.mino.test_settings import URL, sources

HALF = {"event": {"type": "response.output_text.delta", "delta": "Half"}}
HOLD = {"send": [HALF, {"hold": True}]}
PRICES = '["m"]\ninput_per_million = 1_000_000\noutput_per_million = 5_000_000\n'


def ask(*asked: tuple[str, dict[str, Any]], prefix: str = "call") -> dict[str, Any]:
    """An exchange that asks for calls of any tool."""
    return {
        "answer": {
            "calls": [
                {"call_id": f"{prefix}_{number}", "name": name, "arguments": arguments}
                for number, (name, arguments) in enumerate(asked, 1)
            ]
        }
    }


def events(trace: Path) -> Iterator[dict[str, Any]]:
    """The events of a trace, which has to be valid."""
    text = trace.read_text()
    checked = validate(text)
    assert checked.returncode == 0, checked.stdout
    return (json.loads(line) for line in text.splitlines())


def payloads(trace: Path, type: str) -> list[dict[str, Any]]:
    return [event["payload"] for event in events(trace) if event["type"] == type]


@pytest.fixture
def trace(desk: Desk) -> Path:
    return desk.home / "trace.jsonl"


# Deadline


def test_a_turn_that_takes_too_long_is_ended_and_said(desk: Desk, trace: Path) -> None:
    with script(HOLD) as server:
        ran = desk.run("run", "go", "--deadline", "0.5", "--trace", str(trace), env=desk.at(server))
    assert ran.returncode == 1
    assert "[Turn cancelled: the turn took longer than 0.5 s]" in ran.stderr
    assert payloads(trace, "cancel.request") == [{"by": "policy"}]
    assert payloads(trace, "session.stop")[0]["reason"] == "cancelled"


def test_a_command_is_stopped_when_the_time_is_up(desk: Desk, trace: Path) -> None:
    command = "touch late; sleep 600"
    with script(calls(command)) as server:
        arguments = ("--deadline", "30", "--trace", str(trace), "--allow-rule", f"bash:{command}")
        ran = desk.run("run", "go", *arguments, env=desk.at_late(server), module="late")
    assert ran.returncode == 1
    (result,) = payloads(trace, "tool.result")
    assert (result["status"], result["reason"]) == ("failed", "cancelled")


def late(desk: Desk, server: ScriptedEndpoint, trace: Path) -> Person:
    """A person before mino whose turns have 30 seconds, which pass when a file `late` is there."""
    arguments = ["--deadline", "30", "--trace", str(trace)]
    return Person(arguments, desk.at_late(server), desk.project, module="late")


def test_a_wait_between_attempts_ends_with_the_time(desk: Desk, trace: Path) -> None:
    busy = {"status": 503, "headers": {"retry-after": "15"}, "send": []}
    with script(busy) as server, late(desk, server, trace) as person:
        person.say("go")
        person.see("[Trying again in 15.")
        (desk.project / "late").touch()
        person.see("[Turn cancelled: the turn took longer than 30 s]")
        person.say("/quit")
        assert person.leave() == 0
        assert len(server.requests) == 1
    assert len(payloads(trace, "retry.wait")) == 1


def test_each_turn_has_its_own_time(desk: Desk, trace: Path) -> None:
    with script(HOLD, says("Second.")) as server, late(desk, server, trace) as person:
        person.say("first")
        person.see("Assistant> Half")
        (desk.project / "late").touch()
        person.see("[Turn cancelled: the turn took longer than 30 s]")
        person.say("second")
        person.see("Assistant> Second.")
        person.say("/quit")
        assert person.leave() == 0
    assert [one["by"] for one in payloads(trace, "cancel.request")] == ["policy"]


def test_ctrl_c_still_ends_a_turn_that_has_a_deadline(desk: Desk, trace: Path) -> None:
    arguments = ("--deadline", "600", "--trace", str(trace))
    with script(HOLD) as server, desk.person(server, *arguments) as person:
        person.say("first")
        person.see("Assistant> Half")
        person.type("\x03")
        person.see("[Turn cancelled: ")
        person.say("/quit")
        assert person.leave() == 0
    assert [one["by"] for one in payloads(trace, "cancel.request")] == ["user"]


def test_ctrl_c_after_a_deadline_does_not_leave(desk: Desk) -> None:
    with script(HOLD) as server, desk.person(server, "--deadline", "0.5") as person:
        person.say("first")
        person.see("[Turn cancelled: ")
        person.see("\nYou>", last=True)
        person.type("\x03")
        person.see("(Ctrl+C once more leaves; so does /quit.)")
        person.say("/quit")
        assert person.leave() == 0


def test_a_question_ends_with_the_time_and_what_was_half_typed_is_gone(
    desk: Desk, trace: Path
) -> None:
    exchanges = (calls("touch ran"), says("Second."))
    with script(*exchanges) as server, late(desk, server, trace) as person:
        person.say("first")
        person.asked()
        person.type("ye")
        person.see(f"{QUESTION} ye")
        (desk.project / "late").touch()
        person.see("[Turn cancelled: the turn took longer than 30 s]")
        person.see("\nYou>", last=True)
        person.type("second\r")
        person.see("Assistant> Second.")
        person.say("/quit")
        assert person.leave() == 0
    assert not (desk.project / "ran").exists()
    said = [one["content"] for one in payloads(trace, "user.message")]
    assert said == ["first", "second"]
    assert payloads(trace, "approval.decision")[0]["decision"] == "cancelled"
    assert payloads(trace, "tool.result")[0]["status"] == "not_executed"


# Budgets


def test_tokens_are_counted_over_the_turns_and_shown(desk: Desk, trace: Path) -> None:
    arguments = ("--max-tokens", "20000", "--trace", str(trace))
    exchanges = (says("One."), calls("echo hi", prefix="b"), says("Two."))
    with script(*exchanges) as server, desk.person(server, *arguments) as person:
        person.say("first")
        person.see("[Spent in this turn: 15 tokens; left: 19985 tokens of 20000 tokens]")
        person.say("second")
        person.answer("y")
        person.see("[Spent in this turn: 30 tokens; left: 19955 tokens of 20000 tokens]")
        person.say("/quit")
        assert person.leave() == 0
    spent = payloads(trace, "budget.spend")
    assert spent[-1]["spent"] == 45
    assert all(one["remaining"] >= 0 for one in spent)


def test_a_step_that_does_not_fit_is_not_begun_and_the_reason_is_plain(
    desk: Desk, trace: Path
) -> None:
    with script() as server:
        ran = desk.run(
            "run", "go", "--max-tokens", "100", "--trace", str(trace), env=desk.at(server)
        )
        assert server.requests == []
    assert ran.returncode == 1
    assert "[Turn stopped by the budget: the next step may cost up to " in ran.stderr
    assert "and 100 tokens of 100 tokens is left. It was not begun.]" in ran.stderr
    assert payloads(trace, "session.stop")[0]["reason"] == "budget"


def test_a_chat_goes_on_after_its_budget_has_stopped_a_turn(desk: Desk, trace: Path) -> None:
    arguments = ("--max-tokens", "15000", "--trace", str(trace))
    with script(says("Two.")) as server, desk.person(server, *arguments) as person:
        person.see("\nYou>", last=True)
        person.say("first " + "x" * 9000)
        person.see("[Turn stopped by the budget: ")
        person.say("second")
        person.see("Assistant> Two.")
        person.see("[Spent in this turn: 15 tokens; left: 14985 tokens of 15000 tokens]")
        person.say("/quit")
        assert person.leave() == 0
    (error,) = payloads(trace, "error")
    assert (error["kind"], error["resource"]) == ("budget", "tokens")


def test_money_is_counted_exactly_and_shown_in_dollars(desk: Desk, trace: Path) -> None:
    prices = desk.home / "prices.toml"
    prices.write_text(PRICES)
    arguments = ("--max-cost", "0.5", "--prices", str(prices), "--trace", str(trace))
    with script(says("Done.")) as server:
        ran = desk.run("run", "go", *arguments, env=desk.at(server))
    assert ran.returncode == 0
    assert "[Spent in this turn: $0.000035; left: $0.499965 of $0.50]" in ran.stderr
    assert payloads(trace, "budget.spend")[-1]["unit"] == "micro-dollars"


def test_a_budget_that_is_used_up_ends_the_turn_between_two_requests(
    desk: Desk, trace: Path
) -> None:
    """The result is long, and there is no room for the request that would read it."""
    arguments = ("--max-tokens", "20000", "--trace", str(trace), "--allow-rule", "bash:*")
    with script(calls("head -c 15000 /dev/zero | tr '\\0' x")) as server:
        ran = desk.run("run", "go", *arguments, env=desk.at(server))
        assert len(server.requests) == 1
    assert ran.returncode == 1
    assert payloads(trace, "tool.result")[0]["status"] == "completed"
    assert payloads(trace, "session.stop")[0]["reason"] == "budget"


@pytest.mark.parametrize(
    ("arguments", "text", "said"),
    [
        (["--max-cost", "1"], None, "needs the prices"),
        (["--max-cost", "1", "--prices", "FILE"], None, "No such file"),
        (["--max-cost", "1", "--prices", "FILE"], "x = ", "not TOML"),
        (["--max-cost", "1", "--prices", "FILE"], "", "no prices of the model"),
        (["--prices", "FILE"], '["m"]\ninput_per_million = 1', "needs input_per_million"),
        (["--prices", "FILE"], PRICES.replace("5_000_000", "5.0"), "whole numbers"),
        (["--prices", "FILE"], PRICES.replace("5_000_000", "-5"), "whole numbers"),
        (["--prices", "FILE"], PRICES.replace("5_000_000", "true"), "whole numbers"),
        (["--prices", "FILE"], PRICES.replace("5_000_000", f"0x{'f' * 5000}"), "whole numbers"),
        (["--prices", ""], None, "No such file"),
        (["--prices", "/dev/zero"], None, "Not a regular file"),
        (["--prices", "PIPE"], None, "Not a regular file"),
        (["--max-cost", ""], None, "dollars"),
        (["--max-tokens", ""], None, "whole number"),
        (["--deadline", ""], None, "seconds"),
        (["--max-cost", "0"], None, "above 0"),
        (["--max-cost", "0.0000001"], None, "dollars"),
        (["--max-cost", "\u0661"], None, "dollars"),
        (["--max-tokens", "1.5"], None, "whole number"),
        (["--deadline", "-1"], None, "seconds"),
        (["--deadline", "inf"], None, "seconds"),
        (["--context-limit", "many"], None, "whole number"),
        (["--protocol", "grpc"], None, "responses, chat, anthropic"),
        (["--protocol", "chat", "--omit", "store"], None, "stream_options"),
        (["--protocol", "anthropic", "--model", "m", "--omit", "store"], None, "must be empty"),
    ],
)
def test_a_limit_that_cannot_be_kept_is_refused_in_one_line(
    desk: Desk, arguments: list[str], text: str | None, said: str
) -> None:
    prices = desk.home / "prices.toml"
    if text is not None:
        prices.write_text(text)
    os.mkfifo(desk.home / "pipe")
    named = {"FILE": str(prices), "PIPE": str(desk.home / "pipe")}
    given = [named.get(one, one) for one in arguments]
    if given[0].startswith("--deadline"):
        given = [f"{given[0]}={given[1]}"]
    with script() as server:
        ran = desk.run("run", "go", *given, env=desk.at(server))
        assert server.requests == []
    assert ran.returncode == 2
    assert ran.stderr.count("\n") == 1
    assert said in ran.stderr
    assert desk.sessions == []


@pytest.mark.parametrize(
    ("micro_dollars", "text"),
    [(0, "$0.00"), (1, "$0.000001"), (500_000, "$0.50"), (12_345_600, "$12.3456")],
)
def test_micro_dollars_are_written_exactly(micro_dollars: int, text: str) -> None:
    assert in_dollars(micro_dollars) == text


# Context


def test_what_does_not_fit_is_left_out_and_said(desk: Desk, trace: Path) -> None:
    arguments = ("--context-limit", "1400", "--trace", str(trace))
    long = "word " * 1600
    exchanges = (says(long), says("Two."), says("Three."))
    with script(*exchanges) as server, desk.person(server, *arguments) as person:
        person.say("first")
        person.see("\nYou>", last=True)
        person.say("second " + "x" * 2000)
        person.see("Assistant> Two.")
        person.say("third " + "y" * 2000)
        person.see("Assistant> Three.")
        person.see("This request was made shorter, to fit: ")
        person.say("/quit")
        assert person.leave() == 0
        last = server.requests[-1].json()["input"]
    assert payloads(trace, "context.compact")
    assert "third" in to_json(last)
    assert long.strip() not in to_json(last)


def test_a_limit_that_nothing_fits_in_is_told_with_both_numbers(desk: Desk) -> None:
    with script() as server:
        ran = desk.run("run", "go", "--context-limit", "10", env=desk.at(server))
        assert server.requests == []
    assert ran.returncode == 1
    assert "tokens needed, the limit is 10]" in ran.stderr


def refused_as_too_long() -> dict[str, Any]:
    """The provider's answer to a request that does not fit."""
    error = {"code": "context_length_exceeded", "message": "too long"}
    return {
        "send": [{"event": {"type": "response.failed", "response": {"output": [], "error": error}}}]
    }


def test_a_request_that_the_provider_finds_too_long_is_made_shorter_once(
    desk: Desk, trace: Path
) -> None:
    command = "head -c 30000 /dev/zero | tr '\\0' x"
    arguments = ("--trace", str(trace), "--allow-rule", "bash:*")
    exchanges = (calls(command), refused_as_too_long(), says("Done."))
    with script(*exchanges) as server:
        ran = desk.run("run", "go", *arguments, env=desk.at(server))
        assert len(outputs(server.requests[2])[0]["output"]) < 3000
    assert (ran.returncode, ran.stdout) == (0, "Done.\n")
    assert "as it was too long for the model: 1 long outputs cut.]" in ran.stderr
    assert [one["reason"] for one in payloads(trace, "context.compact")] == ["overflow"]


def test_a_second_refusal_is_final(desk: Desk, trace: Path) -> None:
    command = "head -c 30000 /dev/zero | tr '\\0' x"
    arguments = ("--trace", str(trace), "--allow-rule", "bash:*")
    exchanges = (calls(command), refused_as_too_long(), refused_as_too_long())
    with script(*exchanges) as server:
        ran = desk.run("run", "go", *arguments, env=desk.at(server))
        assert len(server.requests) == 3
    assert ran.returncode == 1
    assert payloads(trace, "session.stop")[0]["reason"] == "failed"


def test_a_turn_that_failed_and_what_does_not_fit_are_left_out_together(
    desk: Desk, trace: Path
) -> None:
    arguments = ("--context-limit", "1400", "--trace", str(trace))
    cut = {"send": [HALF, {"cut": True}]}
    exchanges = (says("word " * 1600), cut, says("Three."))
    with script(*exchanges) as server, desk.person(server, *arguments) as person:
        person.say("first")
        person.see("\nYou>", last=True)
        person.say("second")
        person.see("[Turn failed: model: ")
        person.say("third " + "y" * 3000)
        person.see("Assistant> Three.")
        person.say("/quit")
        assert person.leave() == 0
        assert "second" not in to_json(server.requests[-1].json()["input"])
    assert payloads(trace, "context.compact")[-1]["policy"] == "replay-rule_drop-turns"


# Files


def test_reads_are_asked_about_unless_granted(desk: Desk, trace: Path) -> None:
    (desk.project / "a.txt").write_text("alpha\n")
    (desk.project / "b.txt").write_text("beta\n")
    exchange = ask(("read_file", {"path": "a.txt"}), ("read_file", {"path": "b.txt"}))
    with script(exchange, says("Read.")) as server, desk.person(server) as person:
        person.say("go")
        assert 'File: "a.txt"' in person.asked()
        person.answer("y")
        person.answer("n", times=2)
        person.see("Assistant> Read.")
        person.say("/quit")
        person.leave()
        statuses = [result["status"] for result in outputs(server.requests[1])]
    assert statuses == ["completed", "denied"]
    arguments = ("--allow-reads", "--trace", str(trace))
    with script(exchange, says("Read.")) as server, desk.person(server, *arguments) as person:
        person.say("go")
        shown = person.see("Assistant> Read.")
        person.say("/quit")
        assert person.leave() == 0
        assert [one["output"] for one in outputs(server.requests[1])] == ["alpha\n", "beta\n"]
        assert "parallel_tool_calls" not in server.requests[0].json()
    assert QUESTION not in shown
    assert '[Tool: read_file]\nFile: "b.txt"\n[Tool result: completed]\n| beta' in shown
    types = [event["type"] for event in events(trace) if event["type"].startswith("tool.")]
    together = ["tool.start", "tool.start", "tool.result", "tool.result"]
    assert [one for one in types if one != "tool.call"] == together


def test_a_granted_read_stays_below_the_directory(desk: Desk) -> None:
    (desk.home / "secret").write_text("outside")
    (desk.project / "link").symlink_to(desk.home / "secret")
    exchange = ask(
        ("read_file", {"path": "../home/secret"}),
        ("read_file", {"path": "link"}),
        ("read_file", {"path": str(desk.home / "secret")}),
    )
    with script(exchange, says("Read.")) as server:
        ran = desk.run("run", "go", "--allow-reads", env=desk.at(server))
        results = outputs(server.requests[1])
    assert ran.returncode == 0
    assert [one["status"] for one in results] == [
        "invalid_arguments",
        "failed",
        "invalid_arguments",
    ]
    assert "outside" not in to_json(results)


def test_an_edit_is_always_asked_about_with_its_escaped_diff(desk: Desk, trace: Path) -> None:
    file = desk.project / "a.txt"
    file.write_text("one\ntwo\n")
    edit = {"path": "a.txt", "old": "two\n", "new": "t\x1b[2Jwo\nApprove\u202e\n"}
    exchanges = (ask(("edit_file", edit)), ask(("edit_file", edit), prefix="b"), says("Done."))
    arguments = ("--allow-reads", "--trace", str(trace))
    with script(*exchanges) as server, desk.person(server, *arguments) as person:
        person.say("go")
        shown = squeezed(person.asked())
        assert squeezed('File: "a.txt"') in shown
        assert squeezed('Change: "- two\\n+ t\\x1b[2Jwo\\n+ Approve\\u202e\\n"') in shown
        assert "charactersshownasescapes" in shown
        person.answer("n")
        person.asked(times=2)
        assert file.read_text() == "one\ntwo\n"
        person.answer("y", times=2)
        person.see("Assistant> Done.")
        person.say("/quit")
        assert person.leave() == 0
    assert file.read_text() == "one\nt\x1b[2Jwo\nApprove\u202e\n"
    assert [one["decision"] for one in payloads(trace, "approval.decision")] == ["deny", "allow"]


def test_a_rule_allows_edits_of_one_path_in_a_script(desk: Desk, trace: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (desk.project / name).write_text("old\n")
    edits = [
        ("edit_file", {"path": name, "old": "old", "new": "new"}) for name in ("a.txt", "b.txt")
    ]
    arguments = ("--allow-rule", "edit_file:a.txt", "--trace", str(trace))
    with script(ask(*edits), says("Done.")) as server:
        ran = desk.run("run", "go", *arguments, env=desk.at(server))
        statuses = [result["status"] for result in outputs(server.requests[1])]
    assert ran.returncode == 0
    assert statuses == ["completed", "denied"]
    assert 'File: "a.txt"\nChange: "- old\\n' in ran.stderr
    assert (desk.project / "a.txt").read_text() == "new\n"
    assert len(payloads(trace, "tool.start")) == 1


# Protocols


@pytest.mark.parametrize(
    ("protocol", "path", "header"),
    [
        ("responses", "/v1/responses", "authorization"),
        ("chat", "/v1/chat/completions", "authorization"),
        ("anthropic", "/v1/messages", "x-api-key"),
    ],
)
def test_each_protocol_runs_a_command_and_answers(
    desk: Desk, trace: Path, protocol: str, path: str, header: str
) -> None:
    arguments = ("--protocol", protocol, "--trace", str(trace), "--allow-rule", "bash:echo hi")
    with script(calls("echo hi"), says("It said hi.")) as server:
        more = {"MINO_BASE_URL": server.url, "MINO_API_KEY": KEY, "MINO_MODEL": "m"}
        ran = desk.run("run", "go", *arguments, env={**desk.environment, **more})
        assert [one.path for one in server.requests] == [path] * 2
        assert KEY in server.requests[0].headers[header]
    assert (ran.returncode, ran.stdout) == (0, "It said hi.\n")
    assert payloads(trace, "tool.result")[0]["output"] == "hi\n"


def test_what_is_set_for_openai_does_not_go_to_anthropic() -> None:
    flags = {"home": "/h", "protocol": "anthropic"}
    environment = {"OPENAI_BASE_URL": URL, "OPENAI_MODEL": "m"}
    with pytest.raises(ConfigError, match="MINO_API_KEY"):
        read_settings({**flags, "model": "m"}, environment, (KEY, "OPENAI_API_KEY"))
    with pytest.raises(ConfigError, match="--model"):
        read_settings(flags, environment, (KEY, "MINO_API_KEY"))
    settings = read_settings({**flags, "model": "c"}, environment, (KEY, "MINO_API_KEY"))
    assert settings.endpoint.base_url == "https://api.anthropic.com/v1"
    assert settings.model == "c"


# Where they are set


def test_limits_come_from_the_file_and_variables_and_doctor_shows_them(desk: Desk) -> None:
    (desk.home / ".mino").mkdir()
    (desk.home / ".mino" / "prices.toml").write_text(PRICES)
    config = (
        'prices = "prices.toml"\nmodel = "m"\nmax_cost = 0.25\ndeadline = 90\nmax_tokens = "5000"\n'
        'allow_reads = true\nprotocol = "chat"\n'
    )
    rows = sources(
        desk, config=config, MINO_DEADLINE="30.5", MINO_CONTEXT_LIMIT="900", OPENAI_API_KEY=KEY
    )
    assert rows["deadline"] == "30.5 s a turn  (from MINO_DEADLINE)"
    assert rows["max_cost"] == "$0.25  (from config.toml)"
    assert rows["max_tokens"] == "5000 tokens  (from config.toml)"
    assert rows["prices"] == "$1.00 in, $5.00 out, a million tokens  (from config.toml)"
    assert rows["context_limit"] == "900 tokens a request  (from MINO_CONTEXT_LIMIT)"
    assert rows["allow_reads"] == "yes  (from config.toml)"
    assert rows["protocol"] == "chat  (from config.toml)"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("max_cost = 0.1234567", "dollars"),
        ("deadline = inf", "seconds"),
        ("max_tokens = 1.5", "whole number"),
        ("max_tokens = true", "must be a text"),
        ("allow_reads = 1", "must be a text"),
        ('allow_reads = "perhaps"', "it can be true"),
    ],
)
def test_a_wrong_limit_in_the_file_is_told_and_not_rounded(
    desk: Desk, text: str, said: str
) -> None:
    (desk.home / ".mino").mkdir()
    (desk.home / ".mino" / "config.toml").write_text(text)
    ran = desk.run("run", "go", env={**desk.environment, "OPENAI_API_KEY": KEY})
    assert ran.returncode == 2
    assert ran.stderr.count("\n") == 1
    assert said in ran.stderr


def test_without_limits_doctor_says_none(desk: Desk) -> None:
    rows = sources(desk, OPENAI_API_KEY=KEY)
    for name in ("deadline", "max_tokens", "max_cost", "prices", "context_limit"):
        assert rows[name] == "none  (from default)"


def test_help_names_each_switch(desk: Desk) -> None:
    said = desk.run("--help").stdout
    for name in ("deadline", "max-tokens", "max-cost", "prices", "context-limit", "allow-reads"):
        assert f"--{name}" in said
    assert "--protocol" in said
    assert "also of time, tokens, money" in said
