"""A table of predictions as the learner has written it: which rows can be graded, what is missing.

One row left out or misspelt is named, and does not keep the others from being graded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from curriculum.grading.mistakes import mistake, quote

__unittest = True


def rows_to_grade(
    table: object, names: Sequence[str], columns: Sequence[str], look: str
) -> tuple[list[str], list[str]]:
    """(names of the rows that are as they should be, what is wrong with the others).

    Raises a mistake if it is no table at all.
    """
    if not isinstance(table, Mapping):
        raise mistake(f"a dict with one row for each of {', '.join(names)}", quote(table), look)
    if not table:
        raise mistake(f"a dict with one row for each of {', '.join(names)}", "it is empty", look)
    problems = []
    if missing := [name for name in names if name not in table]:
        problems.append(f"no row for {', '.join(map(repr, missing))}")
    problems += [
        f"{quote(name)} is none of the rows asked for" for name in table if name not in names
    ]
    good = []
    for name in names:
        if name not in table:
            continue
        row = table[name]
        if isinstance(row, Mapping) and set(row) == set(columns):
            good.append(name)
        else:
            problems.append(f"{name!r} has the columns {', '.join(columns)}, not {quote(row)}")
    return good, problems
