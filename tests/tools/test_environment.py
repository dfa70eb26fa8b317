"""The environment and directory that are shown are exactly those that a command gets."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from curriculum.core.trace import to_json
from curriculum.tools.bash import NOTICE, Bash
from curriculum.tools.environment import FIXED, check_environment, minimal_environment
from tests.tools.running import arguments, bash_in, execute, running_call

ADDED_BY_BASH = {"PWD", "SHLVL", "_"}


def environment_of(bash: Bash) -> dict[str, str]:
    """What a program that bash starts finds in its environment."""
    output = execute(bash, "env -0 | tr '\\n\\0' '\\0\\n'").output
    pairs = (line.replace("\0", "\n").partition("=") for line in output.splitlines())
    return {name: content for name, _, content in pairs}


def test_j1_only_the_allow_list_is_passed_and_it_is_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    startup = tmp_path / "startup"
    startup.write_text("echo startup ran\n")
    for name, content in {
        "OPENAI_API_KEY": "sk-secret",
        "FOO_TOKEN": "secret",
        "HTTPS_PROXY": "http://user:secret@example.org",
        "BASH_ENV": str(startup),
        "ENV": str(startup),
        "BASH_FUNC_ls%%": "() { echo function ran; }",
        "SHELLOPTS": "xtrace",
        "PS4": "$(echo trace ran >&2)",
        "PAGER": "less",
        "TERM": "xterm-256color",
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
    }.items():
        monkeypatch.setenv(name, content)
    monkeypatch.chdir(tmp_path)
    bash = Bash.here()
    display = bash.prepare(arguments("true")).display
    shown = display["environment"]
    assert isinstance(shown, dict)
    real = environment_of(bash)
    assert real.keys() - shown.keys() <= ADDED_BY_BASH
    assert {name: real[name] for name in shown} == shown
    assert (shown["HOME"], shown["PAGER"], shown["TERM"]) == (str(tmp_path), "cat", "dumb")
    assert "secret" not in repr(real)
    assert execute(bash, "ls; pwd").output == f"startup\n{tmp_path}\n"


def test_what_is_shown_for_approval_is_complete(tmp_path: Path) -> None:
    bash = Bash(str(tmp_path), {"A": "b c"}, timeout_seconds=1.5, output_limit=10)
    assert bash.prepare(arguments("printf x | wc -c")).display == {
        "command": "printf x | wc -c",
        "directory": str(tmp_path),
        "environment": {"A": "b c"},
        "timeout_seconds": 1.5,
        "output_limit_bytes": 10,
        "notice": NOTICE,
    }


def test_a_change_after_the_capture_changes_nothing(tmp_path: Path) -> None:
    given = {"PATH": "/usr/bin:/bin", "GREETING": "hi"}
    bash = bash_in(tmp_path, environment=given)
    prepared = bash.prepare(arguments("echo $GREETING"))
    given["GREETING"] = "changed"
    shown = prepared.display["environment"]
    assert isinstance(shown, dict)
    shown["GREETING"] = "changed"
    assert bash.execute(prepared, running_call()).output == "hi\n"


def test_a_cd_does_not_outlive_its_command(tmp_path: Path) -> None:
    bash = bash_in(tmp_path)
    assert execute(bash, "cd /; pwd").output == "/\n"
    assert execute(bash, "pwd").output == f"{tmp_path}\n"


@pytest.mark.parametrize(
    "name", ["line\nbreak", "\x1b]0;title\x07", "\u202eevil", " ", "é", "a'b\"c$d"]
)
def test_d9_any_directory_name_works_and_is_shown_as_it_is(name: str, tmp_path: Path) -> None:
    home = tmp_path / name
    home.mkdir()
    bash = bash_in(home)
    display = bash.prepare(arguments("true")).display
    assert display["directory"] == str(home)
    assert execute(bash, 'printf %s "${PWD##*/}"').output == name
    to_json(display).encode()


def test_a_directory_whose_name_is_not_utf8_works_and_can_be_written_down(tmp_path: Path) -> None:
    home = os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe")
    os.mkdir(home)
    bash = bash_in(home)
    display = bash.prepare(arguments("true")).display
    assert display["directory"] == rf"{tmp_path}/\xff\xfe"
    to_json(display).encode()
    bash.definition.description.encode()
    assert execute(bash, "true").status == "completed"
    os.rmdir(home)
    with pytest.raises(Exception, match="gone") as refusal:
        bash.prepare(arguments("true"))
    str(refusal.value).encode()


@pytest.mark.parametrize("text", ["line\nbreak", "\x1b[2J", "\u202e", "", "a=b", "'\"$(id)`id`"])
def test_any_value_is_passed_as_it_is_and_never_interpreted(text: str, tmp_path: Path) -> None:
    bash = bash_in(tmp_path, environment={"PATH": "/usr/bin:/bin", "VALUE": text})
    assert environment_of(bash)["VALUE"] == text


@pytest.mark.parametrize(
    ("name", "text"),
    [("", "x"), ("A=B", "x"), ("A\0", "x"), ("A", "x\0y"), ("A", "\udcff")],
)
def test_an_environment_that_no_process_can_be_given_is_refused(name: str, text: str) -> None:
    with pytest.raises(ValueError, match="environment cannot hold"):
        check_environment({name: text})


@pytest.mark.parametrize("name", ["BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "BASH_FUNC_ls%%"])
def test_what_changes_how_bash_starts_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="never passed"):
        check_environment({name: "x"})


def test_the_minimal_environment_always_has_a_path_and_no_value_that_cannot_be_shown() -> None:
    made = minimal_environment({"HOME": "/\udcff", "USER": "u", "SECRET": "s"})
    assert made == {"PATH": "/usr/local/bin:/usr/bin:/bin", "USER": "u", **FIXED}


@pytest.mark.parametrize(
    "wrong",
    [
        {"directory": "relative"},
        {"directory": "/a\0b"},
        {"timeout_seconds": 0},
        {"timeout_seconds": float("nan")},
        {"timeout_seconds": float("inf")},
        {"output_limit": 0},
    ],
)
def test_a_tool_that_could_not_be_bounded_is_not_made(wrong: dict[str, object]) -> None:
    given: dict[str, object] = {"directory": "/", "environment": {}, **wrong}
    with pytest.raises(ValueError, match="must be"):
        Bash(**given)  # type: ignore[arg-type]


def test_the_definition_asks_for_one_command_and_nothing_else() -> None:
    definition = bash_in("/").definition
    assert definition.name == "bash"
    assert not definition.parallel_safe
    assert definition.parameters["required"] == ["command"]
    assert definition.parameters["additionalProperties"] is False
    assert "30 s or 65536 bytes" in definition.description
