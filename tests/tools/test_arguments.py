"""Arguments are taken exactly as written or refused with a reason; there is nothing between."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curriculum.core.errors import InvalidArgumentsError, PreparationError
from curriculum.core.messages import ToolCall
from curriculum.core.tools import Prepared, ToolBox, ToolResult
from curriculum.core.trace import to_json
from curriculum.tools.arguments import MAX_COMMAND_BYTES
from curriculum.tools.bounds import Launch
from tests.tools.running import arguments, bash_in

BASH = bash_in("/")

REFUSED = [
    ("", "not valid JSON"),
    ("   ", "not valid JSON"),
    ('{"command":"ls"', "not valid JSON"),
    ('{"command":"ls"} x', "not valid JSON"),
    ("{'command':'ls'}", "not valid JSON"),
    ('{"command":"a\nb"}', "not valid JSON"),
    ('\ufeff{"command":"ls"}', "not valid JSON"),
    ("[]", "must be an object, not an array"),
    ('"ls"', "must be an object, not a string"),
    ("null", "must be an object, not null"),
    ("true", "must be an object, not a boolean"),
    ("5", "must be an object, not a number"),
    ("9" * 5000, "must be an object, not a number"),
    ("NaN", "NaN is no JSON number"),
    ('{"command":Infinity}', "Infinity is no JSON number"),
    ("{}", "command is missing"),
    ('{"cmd":"ls"}', "unknown field 'cmd'"),
    ('{"command":"ls","timeout":5}', "unknown field 'timeout'"),
    ('{"command":"ls","command":"ls"}', "duplicate field 'command'"),
    ('{"command":"ls","\\u0063ommand":"rm"}', "duplicate field 'command'"),
    ('{"command":"ls","x":{"a":1,"a":2}}', "duplicate field 'a'"),
    ('{"command":5}', "must be a string, not a number"),
    ('{"command":null}', "must be a string, not null"),
    ('{"command":true}', "must be a string, not a boolean"),
    ('{"command":["ls"]}', "must be a string, not an array"),
    ('{"command":{"a":"ls"}}', "must be a string, not an object"),
    ('{"command":""}', "empty or blank"),
    ('{"command":"  \\n\\t"}', "empty or blank"),
    ('{"command":"\\u00a0\\u3000"}', "empty or blank"),
    ('{"command":"\\udc80","\\ud83d":1}', r"unknown field '\ud83d'"),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED)
def test_anything_but_one_command_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(InvalidArgumentsError) as refusal:
        BASH.prepare(text)
    assert reason in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a19_a_nul_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(InvalidArgumentsError, match="NUL"):
        BASH.prepare('{"command":"echo a\\u0000b"}')


def test_a20_a_command_beyond_16_kib_is_refused_by_name_of_the_limit() -> None:
    for size in (MAX_COMMAND_BYTES + 1, 131_072, 3_000_000):
        with pytest.raises(InvalidArgumentsError, match=r"16384 bytes \(16 KiB\)"):
            BASH.prepare(arguments("x" * size))


def test_text_that_no_command_needs_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(InvalidArgumentsError, match="arguments are 200016 characters long"):
        BASH.prepare(" " * 200_000 + '{"command":"ls"}')


def test_a20_the_longest_spelling_of_a_command_that_fits_is_taken() -> None:
    spelled = '{"command":"' + "\\u0061" * MAX_COMMAND_BYTES + '"}'
    assert BASH.prepare(spelled).display["command"] == "a" * MAX_COMMAND_BYTES


def test_a20_the_limit_counts_bytes_and_not_characters() -> None:
    fits = "é" * (MAX_COMMAND_BYTES // 2)
    action = BASH.prepare(arguments(fits)).action
    assert isinstance(action, Launch)
    assert action.command == fits
    with pytest.raises(InvalidArgumentsError, match="16386 bytes"):
        BASH.prepare(arguments(fits + "é"))


@pytest.mark.parametrize("text", ['{"command":"echo \\ud83d"}', '{"command":"echo \ud83d"}'])
def test_a21_a_lone_surrogate_is_refused_and_the_refusal_still_encodes(text: str) -> None:
    refusal = ToolBox([BASH]).prepare(ToolCall("call-1", "bash", text))
    assert isinstance(refusal, ToolResult)
    assert refusal.status == "invalid_arguments"
    assert "surrogate" in refusal.output
    refusal.content().encode()


def test_a_pair_of_surrogates_is_one_character() -> None:
    prepared = BASH.prepare('{"command":"echo \\ud83d\\ude00"}')
    assert prepared.display["command"] == "echo 😀"


@pytest.mark.parametrize("depth", [20, 2_000, 40_000])
@pytest.mark.parametrize("where", ["alone", "as the command"])
def test_deep_nesting_is_a_refusal_and_no_crash(depth: int, where: str) -> None:
    nested = "[" * depth + "]" * depth
    with pytest.raises(InvalidArgumentsError):
        BASH.prepare(nested if where == "alone" else f'{{"command":{nested}}}')


def outcome(text: str) -> Prepared | PreparationError:
    """What prepare makes of the text; any other exception fails the test."""
    try:
        return BASH.prepare(text)
    except PreparationError as refusal:
        str(refusal).encode()
        return refusal


@given(st.text())
def test_any_text_is_prepared_or_refused(text: str) -> None:
    assert isinstance(outcome(text), PreparationError)  # no random text is a command object


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.just("command"), inner),
    max_leaves=8,
)


@given(JSON | st.fixed_dictionaries({"command": st.text()}), st.booleans())
def test_any_json_is_prepared_exactly_or_refused(data: object, ascii_only: bool) -> None:
    made = outcome(json.dumps(data, ensure_ascii=ascii_only))
    if isinstance(made, Prepared):
        assert isinstance(made.action, Launch)
        assert data == {"command": made.action.command}
        assert made.display["command"] == made.action.command
        to_json(made.display).encode()


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1))
def test_every_command_that_bash_can_be_given_is_prepared(command: str) -> None:
    made = outcome(arguments(command))
    assert isinstance(made, Prepared) == bool(command.strip())
