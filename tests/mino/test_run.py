"""`mino run`: the answer on standard output, progress on standard error, exit codes, the trace.

Sections G, H and I of the cases as far as all of mino is needed to see them; K1 too.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from typing import Any

import pytest

from curriculum.providers.scripted_endpoint import ScriptedEndpoint
from tests.mino.desk import KEY, Desk, calls, outputs, says, script
from tests.mino.person import ROOT

ALLOW = ("--allow-rule", "bash:*")
TOUCH = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "bash"}
TOUCH |= {"arguments": '{"command":"touch ran"}', "status": "completed"}
ITEM_DONE = {"event": {"type": "response.output_item.done", "output_index": 0, "item": TOUCH}}


def validate(trace: str) -> subprocess.CompletedProcess[str]:
    """What `python -m curriculum.trace validate` says of it."""
    return subprocess.run(
        [sys.executable, "-m", "curriculum.trace", "validate", "-"],
        input=trace,
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
    )


def run(desk: Desk, server: ScriptedEndpoint, *arguments: str, **more: Any) -> Any:
    return desk.run("run", "go", *arguments, env=desk.at(server), **more)


def ending(kind: str, **fields: Any) -> dict[str, Any]:
    """A step: the event that ends a response."""
    return {"event": {"type": kind, "response": {"output": [TOUCH], **fields}}}


def test_the_answer_alone_is_on_standard_output(desk: Desk) -> None:
    with script(calls("echo hi"), says("It said hi.")) as server:
        ran = run(desk, server, *ALLOW)
    assert (ran.returncode, ran.stdout) == (0, "It said hi.\n")
    assert 'Command: "echo hi"' in ran.stderr
    assert "[Tool result: completed; exit code 0]\n| hi\n" in ran.stderr


def test_without_a_rule_every_call_is_denied_and_said(desk: Desk) -> None:
    with script(calls("touch ran"), says("I could not.")) as server:
        ran = run(desk, server)
    assert (ran.returncode, ran.stdout) == (0, "I could not.\n")
    assert "[Decision: deny; no rule allows it]" in ran.stderr
    assert outputs(server.requests[1])[0]["status"] == "denied"
    assert not list(desk.project.iterdir())


def test_a_rule_allows_what_matches_as_a_whole_and_nothing_else(desk: Desk) -> None:
    exchanges = (calls("touch a", "touch ab", "touch b"), says("Done."))
    with script(*exchanges) as server:
        run(desk, server, "--allow-rule", "bash:touch a", "--allow-rule", "bash:*b b*")
    statuses = [result["status"] for result in outputs(server.requests[1])]
    assert statuses == ["completed", "denied", "denied"]


def test_an_exact_rule_takes_no_character_for_a_pattern(desk: Desk) -> None:
    exact = "echo *.py [a-z] ? \\* a=b:c"
    exchanges = (
        calls(exact, "echo x; rm y.py a ? \\* a=b:c", f"{exact}\n", "echo *"),
        says("Done."),
    )
    with script(*exchanges) as server:
        run(desk, server, "--allow-rule", f"bash={exact}", "--allow-rule", "bash:echo x")
    statuses = [result["status"] for result in outputs(server.requests[1])]
    assert statuses == ["completed", "denied", "denied", "denied"]


def test_a_star_in_what_the_model_writes_is_no_pattern(desk: Desk) -> None:
    with script(calls("*", "touch *", "touch [ab]", "touch ?"), says("Done.")) as server:
        run(desk, server, "--allow-rule", "bash:touch a", "--allow-rule", "bash=touch b")
    assert [result["status"] for result in outputs(server.requests[1])] == ["denied"] * 4
    assert not list(desk.project.iterdir())


@pytest.mark.parametrize(
    "rule", ["touch", "python:x", "bash:", ":x", "*:*", "bash=", "bash= ", "=x"]
)
def test_a_rule_that_names_no_tool_and_pattern_is_refused(desk: Desk, rule: str) -> None:
    with script() as server:
        ran = run(desk, server, "--allow-rule", rule)
    assert ran.returncode == 2
    assert ran.stderr.count("\n") == 1
    assert desk.sessions == []


def test_json_streams_a_valid_trace(desk: Desk) -> None:
    with script(calls("echo hi"), says("It said hi.")) as server:
        ran = run(desk, server, "--json", *ALLOW)
    assert ran.returncode == 0
    checked = validate(ran.stdout)
    assert checked.returncode == 0, checked.stdout
    types = [json.loads(line)["type"] for line in ran.stdout.splitlines()]
    for wanted in ("approval.decision", "tool.start", "tool.result", "journal.append"):
        assert wanted in types


def test_the_prompt_can_come_from_standard_input(desk: Desk) -> None:
    with script(says("Read.")) as server:
        file = desk.home / "prompt"
        file.write_text("first\nsecond\n")
        with file.open() as prompt:
            ran = desk.run("run", "-", env=desk.at(server), stdin=prompt)
    assert ran.returncode == 0
    assert server.requests[0].json()["input"][0]["content"] == "first\nsecond\n"


@pytest.mark.parametrize("prompt", ["", "  \n"])
def test_an_empty_prompt_is_refused(desk: Desk, prompt: str) -> None:
    ran = desk.run("run", "--demo", prompt)
    assert ran.returncode == 2
    assert desk.sessions == []


FAILURES: dict[str, tuple[list[dict[str, Any]], str]] = {
    "g1_end": ([ITEM_DONE], "ended before the answer was complete"),
    "g1_cut": ([ITEM_DONE, {"cut": True}], "before the answer was complete"),
    "g2": (
        [
            ITEM_DONE,
            ending("response.incomplete", incomplete_details={"reason": "max_output_tokens"}),
        ],
        "limit of output tokens",
    ),
    "g3": (
        [ending("response.failed", error={"code": "context_length_exceeded", "message": "m"})],
        "too long",
    ),
    "g4": (
        [{"event": {"type": "error", "code": "invalid", "message": "x\x1b[2J"}}],
        "x\\x1b[2J",
    ),
    "g9": ([ending("response.completed", output=[TOUCH | {"call_id": ""}])], "call_id"),
    "g10": ([ending("response.completed", output=[TOUCH, TOUCH])], "call_id"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_g1_g2_g3_g4_g9_g10_a_response_that_failed_runs_nothing(desk: Desk, name: str) -> None:
    steps, said = FAILURES[name]
    with script(*[{"send": steps}] * 3) as server:
        ran = run(desk, server, "--json", *ALLOW)
    assert ran.returncode == 1
    assert said in ran.stderr.replace("\n| ", "")
    assert ran.stdout
    assert validate(ran.stdout).returncode == 0
    assert not list(desk.project.iterdir())
    assert "model_response" not in desk.kinds()
    assert desk.kinds()[-1] == "turn_end"


def test_g3_a_server_error_is_tried_again_within_the_bound(desk: Desk) -> None:
    fault = {"status": 503, "headers": {"retry-after": "0"}, "send": [{"raw": "busy"}]}
    with script(fault, says("Now.")) as server:
        ran = run(desk, server, "--json")
    assert ran.returncode == 0
    assert "[Trying again in " in ran.stderr
    assert validate(ran.stdout).returncode == 0


def test_g10_an_id_of_an_earlier_answer_is_refused_before_anything_runs(desk: Desk) -> None:
    with script(calls("touch first"), calls("touch second")) as server:
        ran = run(desk, server, *ALLOW)
    assert ran.returncode == 1
    assert [path.name for path in desk.project.iterdir()] == ["first"]


def test_g24_an_answer_without_text_is_said_to_be_one(desk: Desk) -> None:
    with script({"answer": {"reasoning": "c2VhbGVk"}}) as server, desk.person(server) as person:
        person.say("go")
        person.see("[The model answered without any text.]")


BAD = ['{"comm', "[]", '"ls"', "null", "{}", '{"command":5}', '{"command":"ls","x":1}']
BAD += ['{"command":"a","command":"b"}', "[" * 2000]


def test_g25_bad_arguments_are_answered_and_the_session_goes_on(desk: Desk) -> None:
    items = [
        TOUCH | {"call_id": f"call_{at}", "arguments": arguments}
        for at, arguments in enumerate(BAD)
    ]
    first = {"send": [ending("response.completed", output=items)]}
    with script(first, says("Sorry."), says("Gone on.")) as server:
        ran = run(desk, server, *ALLOW)
        assert (ran.returncode, ran.stdout) == (0, "Sorry.\n")
        results = outputs(server.requests[1])
        assert [result["status"] for result in results] == ["invalid_arguments"] * len(BAD)
        ran = run(desk, server, "--resume")
        assert (ran.returncode, ran.stdout) == (0, "Gone on.\n")


def test_g26_an_unknown_tool_is_answered(desk: Desk) -> None:
    first = {"send": [ending("response.completed", output=[TOUCH | {"name": "shell\x1b[2J"}])]}
    with script(first, says("Sorry.")) as server:
        ran = run(desk, server)
    assert ran.returncode == 0
    assert "[Tool: shell\\x1b[2J]\n[Tool result: unknown_tool]\n" in ran.stderr
    assert outputs(server.requests[1])[0]["status"] == "unknown_tool"


def test_g27_three_calls_at_once_run_in_order(desk: Desk) -> None:
    with script(calls("echo 1 >> f", "echo 2 >> f", "echo 3 >> f"), says("Done.")) as server:
        run(desk, server, *ALLOW)
    assert (desk.project / "f").read_text() == "1\n2\n3\n"
    assert server.requests[0].json()["parallel_tool_calls"] is False


def test_g28_a_model_that_calls_for_ever_is_stopped_at_8_requests(desk: Desk) -> None:
    exchanges = [calls(f"echo {number} >> f", prefix=f"c{number}") for number in range(9)]
    with script(*exchanges) as server:
        ran = run(desk, server, *ALLOW)
        assert len(server.requests) == 8
    assert ran.returncode == 1
    assert "[Turn failed: max-turns: " in ran.stderr
    assert len((desk.project / "f").read_text().split()) == 7
    assert [result["status"] for result in desk.results()][-1] == "not_executed"


def test_g28_a_batch_beyond_16_calls_does_not_begin(desk: Desk) -> None:
    with script(calls(*[f"touch {number}" for number in range(17)])) as server:
        ran = run(desk, server, *ALLOW)
    assert ran.returncode == 1
    assert "[Turn failed: max-tool-calls: " in ran.stderr
    assert not list(desk.project.iterdir())
    assert [result["status"] for result in desk.results()] == ["not_executed"] * 17


def test_g28_failed_attempts_count_among_the_8_requests(desk: Desk) -> None:
    busy = {"status": 503, "headers": {"retry-after": "0"}, "send": [{"raw": "busy"}]}
    exchanges: list[dict[str, Any]] = []
    for number in range(5):
        exchanges += [busy, calls("true", prefix=f"c{number}")]
    with script(*exchanges) as server:
        ran = run(desk, server, *ALLOW)
        assert len(server.requests) == 8
    assert ran.returncode == 1
    assert "max-turns" in ran.stderr


def test_h3_a_used_up_quota_is_not_tried_again(desk: Desk) -> None:
    error = json.dumps({"error": {"code": "insufficient_quota", "message": "pay"}})
    with script(*[{"status": 429, "send": [{"raw": error}]}] * 3) as server:
        ran = run(desk, server)
        assert len(server.requests) == 1
    assert ran.returncode == 1
    assert "quota" in ran.stderr


def test_h4_a_page_of_a_gateway_is_quoted_short_and_escaped(desk: Desk) -> None:
    page = {"status": 400, "send": [{"raw": "<html>\x1b[2J" + "x" * 5000}]}
    with script(page) as server:
        ran = run(desk, server)
    assert ran.returncode == 1
    assert "400" in ran.stderr
    assert "\x1b" not in ran.stderr
    assert len(ran.stderr) < 1000


def test_h6_a_redirect_is_not_followed(desk: Desk) -> None:
    with script(says("Stolen.")) as thief:
        moved = {"status": 307, "headers": {"location": thief.url}, "send": []}
        with script(moved) as server:
            ran = run(desk, server)
        assert thief.requests == []
    assert ran.returncode == 1


def test_i1_i2_reasoning_goes_back_sealed_and_in_its_place_also_after_a_restart(
    desk: Desk,
) -> None:
    first = calls("echo hi")
    first["answer"]["reasoning"] = "c2VhbGVk"
    with script(first, says("Done."), says("Again.")) as server:
        run(desk, server, *ALLOW)
        run(desk, server, "--resume")
    kinds = ["message", "reasoning", "function_call", "function_call_output"]
    for request in server.requests[1:]:
        items = request.json()["input"]
        assert [item["type"] for item in items][:4] == kinds
        assert items[1]["encrypted_content"] == "c2VhbGVk"
        assert request.json()["store"] is False


def test_i6_i7_a_field_the_server_does_not_take_is_named_and_can_be_left_out(desk: Desk) -> None:
    error = json.dumps({"error": {"message": "Unknown parameter: 'include'", "param": "include"}})
    with script({"status": 400, "send": [{"raw": error}]}, says("Done.")) as server:
        ran = run(desk, server)
        assert ran.returncode == 1
        assert "include" in ran.stderr
        assert "omit" in ran.stderr
        fields = "include,store,parallel_tool_calls,strict"
        assert run(desk, server, "--omit", fields).returncode == 0
        body = server.requests[1].json()
    assert set(body) == {"model", "stream", "instructions", "input", "tools"}


def test_i8_a_context_that_is_full_is_one_error_and_the_session_opens_again(desk: Desk) -> None:
    full = [ending("response.failed", error={"code": "context_length_exceeded", "message": "m"})]
    with script({"send": full}, says("Again.")) as server:
        ran = run(desk, server)
        assert ran.returncode == 1
        assert len(server.requests) == 1
        assert run(desk, server, "--resume").returncode == 0


def test_k1_a_reader_that_goes_away_is_no_traceback(desk: Desk) -> None:
    with script(calls("echo hi"), says("Done.")) as server:
        for command in ("--help", "run go --json --allow-rule 'bash:*'"):
            ran = subprocess.run(
                [
                    "bash",
                    "-c",
                    f"{shlex.quote(sys.executable)} -m curriculum.mino {command} | head -c 1",
                ],
                capture_output=True,
                text=True,
                env=desk.at(server),
                cwd=desk.project,
                timeout=60,
            )
            assert "Traceback" not in ran.stderr
            assert "Exception" not in ran.stderr
    records = desk.records()
    assert records[-1]["kind"] == "turn_end"


def test_a_full_disk_under_the_trace_is_told(desk: Desk) -> None:
    with script(says("Done.")) as server, open("/dev/full", "w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "curriculum.mino", "run", "go", "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=desk.at(server),
            cwd=desk.project,
            timeout=60,
        )
    assert ran.returncode == 4
    assert "No space left on device" in ran.stderr
    assert desk.records()[-1]["kind"] == "turn_end"


def test_a_trace_file_is_new_private_and_valid(desk: Desk) -> None:
    trace = desk.project / "t.jsonl"
    with script(calls("echo one; true"), says("Done.")) as server:
        assert run(desk, server, "--trace", str(trace), *ALLOW).returncode == 0
        assert validate(trace.read_text()).returncode == 0
        again = run(desk, server, "--trace", str(trace))
    assert again.returncode == 2
    assert "is there already" in again.stderr
    assert len(desk.sessions) == 1


def test_a_trace_without_a_name_is_refused(desk: Desk) -> None:
    with script() as server:
        ran = run(desk, server, "--trace", "")
        assert server.requests == []
    assert (ran.returncode, ran.stderr.count("\n")) == (2, 1)


@pytest.mark.parametrize("command", ["rm t.jsonl", "mv t.jsonl u.jsonl", 'rm -r "$PWD"'])
def test_a_trace_that_a_command_takes_away_is_no_fault_at_the_end(desk: Desk, command: str) -> None:
    with script(calls(command), says("Done.")) as server:
        ran = run(desk, server, "--trace", "t.jsonl", *ALLOW)
    assert (ran.returncode, ran.stdout) == (0, "Done.\n")


@pytest.mark.parametrize(("streams", "code"), [("<t", 2), ("0>t", 2), ("<t 2>/dev/full", 2)])
def test_standard_input_without_a_prompt_is_told_also_where_nothing_takes_it(
    desk: Desk, streams: str, code: int
) -> None:
    (desk.project / "t").touch()
    python = shlex.quote(sys.executable)
    with script() as server:
        ran = subprocess.run(
            ["/bin/bash", "-c", f"{python} -m curriculum.mino run - {streams}"],
            env=desk.at(server),
            cwd=desk.project,
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert ran.returncode == code
    assert ran.stderr.count("\n") == (0 if "full" in streams else 1), ran.stderr


def test_ctrl_c_while_mino_is_still_being_loaded_is_no_traceback(desk: Desk) -> None:
    module = desk.project / "argparse.py"  # found before Python's own
    module.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    ran = desk.run("run", "--demo", "go")
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "")
    assert desk.sessions == []


WRONG_STARTS = {
    "rule": (["--allow-rule", "nonsense"], 2),
    "prompt": ([], 2),
    "session": (["--resume", "nothing"], 3),
    "setting": (["--deadline", "soon"], 2),
    "flag": (["--nonsense"], 2),
    "key": (["--base-url", "https://model.example/v1"], 2),
}


@pytest.mark.parametrize("name", WRONG_STARTS)
def test_a_run_that_never_began_leaves_no_trace_and_touches_none(desk: Desk, name: str) -> None:
    arguments, code = WRONG_STARTS[name]
    trace, earlier = desk.project / "t.jsonl", desk.project / "earlier.jsonl"
    earlier.write_text("an earlier trace\n")
    prompt = "" if name == "prompt" else "go"
    with script() as server:
        environment = desk.at(server, OPENAI_API_KEY="") if name == "key" else desk.at(server)
        for path in (trace, earlier):
            ran = desk.run("run", prompt, "--trace", str(path), *arguments, env=environment)
            assert ran.returncode == (2 if path == earlier else code)
            assert ran.stderr.count("\n") == 1
        assert server.requests == []
    assert not trace.exists()
    assert earlier.read_text() == "an earlier trace\n"
    assert desk.sessions == []


def test_a_run_that_waits_for_an_acknowledgement_leaves_no_trace(desk: Desk) -> None:
    trace = desk.project / "t.jsonl"
    with script(calls("kill -9 $PPID; sleep 600")) as server:
        run(desk, server, *ALLOW)
        assert run(desk, server, "--resume", "--trace", str(trace)).returncode == 3
    assert not trace.exists()


def test_j4_a_key_that_a_command_prints_is_masked_in_the_trace(desk: Desk) -> None:
    """The session keeps what the model was told (J5); the trace does not show it to others."""
    (desk.project / "holds_the_key").write_text(KEY)
    with script(calls("cat holds_the_key"), says("Done.")) as server:
        ran = subprocess.run(
            [sys.executable, "-m", "curriculum.mino", "run", "go", "--json", *ALLOW],
            capture_output=True,
            text=True,
            env=desk.at(server, MINO_HOME=str(desk.home / "holds_the_key")),
            cwd=desk.project,
            timeout=60,
        )
    assert KEY not in ran.stdout
    assert "[REDACTED:api-key:1]" in ran.stdout
    checked = validate(ran.stdout)
    assert checked.returncode == 0, checked.stdout
    assert outputs(server.requests[1])[0]["output"] == KEY
    (session,) = (desk.home / "holds_the_key" / "sessions").iterdir()
    assert KEY in session.read_text()
