"""A target under atheris: `python -m tests.fuzz.guided TARGET PROGRAM [options]`.

Run by `tests.fuzz` in an environment that has atheris. Prints how many inputs came to what.
"""

from __future__ import annotations

import sys
from collections import Counter

import atheris

with atheris.instrument_imports(include=["curriculum"]):
    from tests.fuzz.targets import TARGETS


def main() -> None:
    target, *sys.argv = sys.argv[1:]
    check, counts = TARGETS[target], Counter[str]()
    runs = next((int(word[6:]) for word in sys.argv if word.startswith("-runs=")), 0)

    def hold(data: bytes) -> None:
        counts[check(data)] += 1
        if counts.total() == runs:  # libFuzzer ends the process without a word to Python
            words = ", ".join(f"{count} {word}" for word, count in counts.most_common())
            print(f"{target}: {runs} inputs, nothing broke: {words}", flush=True)

    atheris.Setup(sys.argv, hold)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
