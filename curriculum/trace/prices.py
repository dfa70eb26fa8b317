"""What tokens cost: prices as whole micro-dollars per million tokens, and sums without rounding.

A price file is JSON: {"MODEL": {"input": 3000000, "output": 15000000}}: 3 and 15 dollars. The
model `*` stands for every other one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from curriculum.core.whole_file import read_whole
from curriculum.trace.inputs import NO_INPUT, RefusedError, reason
from curriculum.trace.report import shown_name

PER_MILLION = 1_000_000
MOST_BYTES = 1024 * 1024  # of a file
ANY = "*"


@dataclass(frozen=True)
class Price:
    """Micro-dollars per million tokens."""

    input: int
    output: int

    def of(self, input_tokens: int, output_tokens: int) -> int:
        """What these tokens cost, in millionths of a micro-dollar: exact."""
        return input_tokens * self.input + output_tokens * self.output


def round_up(exact: int) -> int:
    """Millionths of a micro-dollar as micro-dollars, never too little."""
    return -(-exact // PER_MILLION)


def as_dollars(micro_dollars: int) -> str:
    """Micro-dollars as dollars with six digits."""
    dollars, rest = divmod(micro_dollars, PER_MILLION)
    return f"${dollars:,}.{rest:06}"


def read_prices(name: str) -> dict[str, Price]:
    """The prices of a file. Raises RefusedError with exit code 66."""
    said = shown_name(name)
    try:
        data = json.loads(read_whole(name, MOST_BYTES))
        if not isinstance(data, dict):
            raise ValueError("it is no object of models")
        return {model: _price(model, given) for model, given in data.items()}
    except (OSError, ValueError, RecursionError) as fault:
        why = reason(fault) if isinstance(fault, OSError) else f"no prices: {fault}"
        raise RefusedError(f"{said}: {why}", NO_INPUT) from None


def _price(model: str, given: object) -> Price:
    if not (isinstance(given, dict) and set(given) == {"input", "output"}):
        raise ValueError(f"{json.dumps(model)} needs input and output, and nothing else")
    for number in given.values():
        if type(number) is not int or number < 0:
            raise ValueError(
                f"{json.dumps(model)} has {json.dumps(number)}, which is no whole number of "
                "micro-dollars per million tokens"
            )
    return Price(**given)
