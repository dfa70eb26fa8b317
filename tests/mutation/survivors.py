"""Lists of mutants in TOML: survivors with the reason why no test kills them, or mutants to try.

[[mutant]]
function = "curriculum.core.budget.Limit.check"
change = '''
- lines taken out
+ lines put in
'''
why = "..."
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.mutation.mutants import Mutant, module_of

Identity = tuple[str, str]


def read_list(path: Path) -> dict[Identity, str]:
    """Reasons by mutant. Raises ValueError with one line if the list is not in order."""
    try:
        entries = tomllib.loads(path.read_text("utf-8")).get("mutant", [])
        found = {(e["function"], e["change"].strip()): e.get("why", "").strip() for e in entries}
    except (OSError, KeyError, AttributeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"{path}: not a list of mutants: {error!r}") from error
    if len(found) < len(entries):
        raise ValueError(f"{path}: a mutant is listed twice")
    return found


def in_scope(listed: Iterable[Identity], files: Sequence[Path]) -> list[Identity]:
    """The entries about functions of these files."""
    modules = tuple(f"{module_of(path)}." for path in files)
    return [entry for entry in listed if entry[0].startswith(modules)]


def write_draft(path: Path, mutants: Sequence[Mutant]) -> None:
    """A list of these mutants, each once; the reasons are for a person to write."""
    entries = {}
    for mutant in mutants:
        change = f"'''\n{mutant.change}\n'''"
        if "'''" in mutant.change:
            change = json.dumps(mutant.change)
        head = f'[[mutant]]\nfunction = "{mutant.function}"'
        entries[mutant.identity] = f'{head}\nchange = {change}\nwhy = ""\n'
    path.write_text("\n".join(entries.values()), "utf-8")
