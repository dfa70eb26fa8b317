"""What a budget sets aside for an answer is a bound: the provider is told, in its own words.

Without a budget nothing is said, and a server that does not know the field need not be told.
"""

from __future__ import annotations

import pytest

from curriculum.mino.config import OPTIONAL_FIELDS
from curriculum.mino.spending import ANSWER_TOKENS
from curriculum.providers import chat_completions, responses
from tests.mino.desk import KEY, Desk, says, script

FIELDS = {
    "responses": "max_output_tokens",
    "chat": "max_completion_tokens",
    "anthropic": "max_tokens",
}


def body_of(desk: Desk, protocol: str, *given: str) -> dict[str, object]:
    """The request that mino sends."""
    with script(says("Hello.")) as server:
        environment = {"MINO_BASE_URL": server.url, "MINO_API_KEY": KEY, "MINO_MODEL": "m"}
        ran = desk.run(
            "run", "go", "--protocol", protocol, *given, env={**desk.environment, **environment}
        )
        assert ran.stdout == "Hello.\n", ran.stderr
        return dict(server.requests[0].json())


@pytest.mark.parametrize("protocol", FIELDS)
def test_with_a_budget_an_answer_is_bounded_by_what_is_set_aside(desk: Desk, protocol: str) -> None:
    plain = body_of(desk, protocol)
    bounded = body_of(desk, protocol, "--max-tokens", "1000000")
    assert bounded == {**plain, FIELDS[protocol]: ANSWER_TOKENS}
    assert protocol == "anthropic" or FIELDS[protocol] not in plain


def test_money_bounds_it_too_and_a_server_may_be_spared_the_field(desk: Desk) -> None:
    prices = desk.home / "prices.toml"
    prices.write_text('["m"]\ninput_per_million = 1\noutput_per_million = 1\n')
    given = ("--max-cost", "1", "--prices", str(prices))
    assert body_of(desk, "responses", *given)["max_output_tokens"] == ANSWER_TOKENS
    spared = body_of(desk, "chat", *given, "--omit", "max_completion_tokens")
    assert "max_completion_tokens" not in spared


def test_mino_omits_what_the_adapters_can_omit() -> None:
    assert OPTIONAL_FIELDS["responses"] == responses.OPTIONAL
    assert OPTIONAL_FIELDS["chat"] == chat_completions.OPTIONAL
