"""The mutants that mutmut makes of a source file, each known by what it changes.

mutmut numbers the mutants of a function, and an edit above one moves the numbers of all below. So
lists name a mutant by its function and by the lines taken out and put in; two that change equal
lines of one function in the same way are told apart by nothing, and are listed together.
"""

from __future__ import annotations

import difflib
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mutmut.mutation.file_mutation import mutate_file_contents
from mutmut.utils.format_utils import get_mutant_name, orig_function_and_class_names_from_key


@dataclass(frozen=True)
class Mutant:
    """`name` is mutmut's; `function` is the dotted name of what is changed, in the file `path`.

    `before` and `after` are the source of that function, without and with the change.
    """

    name: str
    function: str
    path: Path
    before: str
    after: str

    @property
    def diff(self) -> str:
        """The change as a unified diff; its line numbers count from the head of the function."""
        before, after, path = self.before.splitlines(), self.after.splitlines(), str(self.path)
        return "\n".join(difflib.unified_diff(before, after, path, path, lineterm=""))

    @property
    def change(self) -> str:
        """The lines taken out and put in, without their indentation."""
        lines = self.diff.splitlines()[2:]
        return "\n".join(f"{x[0]} {x[1:].strip()}".rstrip() for x in lines if x[0] in "-+")

    @property
    def identity(self) -> tuple[str, str]:
        return self.function, self.change

    def applied_to(self, source: str) -> str:
        """The source of the file with this one change in it."""
        owner = self.function.removeprefix(f"{module_of(self.path)}.").rpartition(".")[0]
        head = re.search(rf"^class {owner}\b", source, re.MULTILINE) if owner else None
        at = source.index(self.before, head.start() if head else 0)
        return source[:at] + self.after + source[at + len(self.before) :]


def module_of(path: Path) -> str:
    return ".".join(path.with_suffix("").parts)


def mutants_of(path: Path) -> list[Mutant]:
    """Every mutant of a file, given from the root of a checkout: the current folder."""
    made = mutate_file_contents(str(path), path.read_text("utf-8"))
    lines = made.code.splitlines()

    def source(generated: str, shown: str) -> str:
        span = made.line_span_by_function_name[generated]
        text = "\n".join(lines[span.start - 1 : span.end]).strip("\n")
        return text.replace(generated, shown, 1)

    mutants = []
    for generated in made.mutant_names:
        name, owner = orig_function_and_class_names_from_key(generated)
        function = ".".join(filter(None, (module_of(path), owner, name)))
        before = source(f"{generated.rpartition('__mutmut_')[0]}__mutmut_orig", name)
        after = source(generated, name)
        mutants.append(Mutant(get_mutant_name(path, generated), function, path, before, after))
    return mutants


def sample_of(mutants: Sequence[Mutant], size: int, seed: int) -> list[Mutant]:
    """`size` of the mutants, drawn without putting back; the same ones for the same seed."""
    return random.Random(seed).sample(list(mutants), min(size, len(mutants)))
