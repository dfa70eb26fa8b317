"""What a turn or a chat may take: time, tokens, money, and how long a request may be.

All of it is whole numbers: microseconds, tokens, micro-dollars. A limit that cannot be kept, such
as one of money without prices, is refused before anything begins.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping

from curriculum.core.meters import Prices
from curriculum.core.values import value
from curriculum.core.visible import quote
from curriculum.core.whole_file import read_whole
from curriculum.mino.config_error import ConfigError

MOST_PRICES = 1024 * 1024  # bytes of a file
MOST_PRICE = 10**12  # micro-dollars per million tokens
PRICE_FIELDS = ("input_per_million", "output_per_million")
_MILLIONTHS = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,6}))?")
_WHOLE = re.compile(r"[0-9]{1,12}")


@value
class Limits:
    """The limits that were set; None where there is none.

    `deadline_us` is of each turn, `max_tokens` and `max_cost` (micro-dollars) of all turns of this
    process, `context_limit` (tokens) of each request.
    """

    deadline_us: int | None = None
    max_tokens: int | None = None
    max_cost: int | None = None
    prices: Prices | None = None
    context_limit: int | None = None


# region: read
def read_limits(
    found: Mapping[str, str], sources: Mapping[str, str], home: str, model: str
) -> Limits:
    """The limits, from settings as text. Raises ConfigError, also for one that is given empty:
    whoever writes `--max-cost "$MOST"` wants a limit.
    """

    def given(name: str, parse: Callable[[str, str, str], int], wanted: str) -> int | None:
        if sources[name] == "default":
            return None
        return parse(found[name], f"{sources[name]}: {name}", wanted)

    max_cost = given("max_cost", millionths, "dollars, such as 0.50")
    prices = None
    if sources["prices"] != "default":
        path = os.path.expanduser(found["prices"])
        if sources["prices"] == "config.toml":
            path = os.path.join(home, path)
        prices = read_prices(path, model, sources["prices"])
    elif max_cost is not None:
        raise ConfigError(
            f"{sources['max_cost']}: a limit of money needs the prices of {quote(model)}: "
            "--prices FILE"
        )
    return Limits(
        given("deadline", millionths, "seconds, such as 90 or 0.5"),
        given("max_tokens", whole, "a whole number of tokens"),
        max_cost,
        prices,
        given("context_limit", whole, "a whole number of tokens"),
    )


# endregion


def millionths(text: str, what: str, wanted: str) -> int:
    """A number with at most six decimals, in millionths, above 0. Raises ConfigError."""
    match = _MILLIONTHS.fullmatch(text)
    number = int(match[1]) * 1_000_000 + int((match[2] or "").ljust(6, "0")) if match else 0
    return _above_0(number, text, what, wanted)


def whole(text: str, what: str, wanted: str) -> int:
    """A whole number above 0. Raises ConfigError."""
    return _above_0(int(text) if _WHOLE.fullmatch(text) else 0, text, what, wanted)


def _above_0(number: int, text: str, what: str, wanted: str) -> int:
    if number <= 0:
        raise ConfigError(f"{what} is {quote(text[:40])}; write {wanted}, above 0")
    return number


# region: prices
def read_prices(path: str, model: str, source: str) -> Prices:
    """The prices of a model, from a TOML file with a table for each. Raises ConfigError.

    ["gpt-5"]
    input_per_million = 1_250_000     # micro-dollars per million tokens
    output_per_million = 10_000_000
    """
    where = f"{source}: {quote(path)}"
    try:
        text = read_whole(path, MOST_PRICES)
    except (OSError, ValueError) as fault:
        why = f"{fault.strerror} (errno {fault.errno})" if isinstance(fault, OSError) else fault
        raise ConfigError(f"{where}: {why}") from None
    import tomllib

    try:
        table = tomllib.loads(text.decode()).get(model)
    except (ValueError, RecursionError) as fault:
        raise ConfigError(f"{where}: not TOML: {quote(str(fault)[:80])}") from None
    if not isinstance(table, dict):
        raise ConfigError(f"{where}: no prices of the model; add a table [{quote(model)}]")
    prices = [table.get(name) for name in PRICE_FIELDS]
    if set(table) != set(PRICE_FIELDS) or not all(map(_is_price, prices)):
        raise ConfigError(
            f"{where}: [{quote(model)}] needs {' and '.join(PRICE_FIELDS)}, and nothing else: "
            "whole numbers of micro-dollars"
        )
    return Prices(table["input_per_million"], table["output_per_million"])


def _is_price(number: object) -> bool:
    return type(number) is int and 0 <= number <= MOST_PRICE


# endregion


def in_dollars(micro_dollars: int) -> str:
    """`$0.0125`: exact, without zeros at the end beyond cents."""
    whole_dollars, rest = divmod(micro_dollars, 1_000_000)
    decimals = f"{rest:06}".rstrip("0").ljust(2, "0")
    return f"${whole_dollars}.{decimals}"
