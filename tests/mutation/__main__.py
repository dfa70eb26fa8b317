"""Change the code of a package, a little at a time, and see whether the tests notice.

    python -m tests.mutation core                        every mutant of curriculum/core
    python -m tests.mutation trace --sample 400 --seed 1  a random sample, with its interval
    python -m tests.mutation core --files 'budget.py'    some files
    python -m tests.mutation core --only LIST            the mutants in a list, such as a draft

mutmut makes the mutants and tries them; plan.toml says with which tests. Exit code 0: at least 90%
were killed; 1: fewer, or survivors.toml lists a mutant that no longer exists; 2: nothing was tried.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
import tomllib
from collections.abc import Collection, Sequence
from pathlib import Path

from tests.mutation import report
from tests.mutation.mutants import Mutant, module_of, mutants_of, sample_of
from tests.mutation.survivors import Identity, in_scope, read_list, write_draft
from tests.mutation.trials import TrialError, first_trial, second_trial
from tests.mutation.workshop import ROOT, copy_checkout, prefix, set_up_mutmut

HERE = Path("tests/mutation")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tests.mutation",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("package", help="a folder of curriculum/ that plan.toml knows")
    parser.add_argument("--sample", type=int, metavar="N", help="try N mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--files", metavar="GLOB", default="*.py", help="change only these files")
    parser.add_argument("--only", type=Path, metavar="LIST", help="try only the mutants listed")
    parser.add_argument("--tests", nargs="+", metavar="PATH", help="instead of the plan's")
    parser.add_argument("--quick", action="store_true", help="leave out the second trial")
    parser.add_argument("--draft", type=Path, help="write unlisted survivors there, as a list")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--root", type=Path, default=ROOT, help="another checkout")
    return parser.parse_args()


def campaign(asked: argparse.Namespace, plan: dict[str, list[str]], folder: Path) -> int:
    """Try what is asked for, in a copy below `folder`; prints the report. Raises ValueError."""
    root, draft = asked.root.resolve(), asked.draft and asked.draft.resolve()
    listed = read_list(root / HERE / "survivors.toml")
    wanted = read_list(asked.only.resolve()) if asked.only else None
    source = root / "curriculum" / asked.package
    files = [path.relative_to(root) for path in sorted(source.glob(asked.files))]
    if wanted is not None:
        files = [path for path in files if in_scope(wanted, [path])]
    copy = folder / "checkout"
    first = asked.tests or [*plan["tests"], *(f"--deselect={test}" for test in plan["slow"])]
    copy_checkout(root, copy)
    set_up_mutmut(copy, files, first)
    os.chdir(copy)  # mutmut finds its settings in the current folder
    everyone = [mutant for path in files for mutant in mutants_of(path)]
    tried = choose(everyone, wanted, asked)
    names = [mutant.name for mutant in tried]
    if len(tried) == len(everyone):
        names = [f"{module_of(path)}.*" for path in files]  # mutmut compares each with each
    verdicts = first_trial(copy, tried, names, asked.jobs)
    if not (asked.quick or asked.tests):
        slow = [*plan["slow"], *plan["wider"]]
        alive = ("survived", "no tests")
        left = [mutant for mutant in tried if verdicts[mutant.name] in alive]
        rest = [mutant for mutant in tried if verdicts[mutant.name] not in ("killed", *alive)]
        verdicts |= second_trial(folder / "left", root, left, slow, asked.jobs)
        verdicts |= second_trial(folder / "rest", root, rest, [*plan["tests"], *slow], asked.jobs)
    found = report.Findings(tried, verdicts, listed, len(everyone) if asked.sample else len(tried))
    print("\n".join(found.lines()))
    if draft:
        write_draft(draft, found.unlisted)
    there = {mutant.identity for mutant in everyone}
    gone = [entry for entry in in_scope(listed, files) if entry not in there]
    for function, change in gone:
        print(f"listed, and no longer there: {function}\n{change}")
    return 1 if gone or found.share < report.LEAST_SHARE else 0


def choose(
    everyone: Sequence[Mutant], wanted: Collection[Identity] | None, asked: argparse.Namespace
) -> list[Mutant]:
    """The mutants to try; one that is wanted and not there is told. Raises ValueError for none."""
    tried = list(everyone)
    if wanted is not None:
        tried = [mutant for mutant in everyone if mutant.identity in wanted]
        for function, change in set(wanted) - {mutant.identity for mutant in tried}:
            print(f"{asked.only}: no such mutant of {function}:\n{change}", file=sys.stderr)
    if asked.sample:
        tried = sample_of(tried, asked.sample, asked.seed)
    if not tried:
        raise ValueError(f"{asked.package}: no mutants in {asked.files}")
    return tried


def main() -> int:
    asked = arguments()
    # Under nohup a Ctrl+C is ignored, and so it would be in every test; they send some.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # not without tidying up
    folder = Path(tempfile.mkdtemp(prefix="mutants-"))
    try:
        plans = tomllib.loads((asked.root / HERE / "plan.toml").read_text("utf-8"))
        if asked.package not in plans:
            raise ValueError(f"{asked.package}: no such package; there are {', '.join(plans)}")
        if plans[asked.package].get("alone") and not prefix():
            raise ValueError(f"{asked.package}: its mutants need a PID namespace (unshare, Linux)")
        return campaign(asked, plans[asked.package], folder)
    except (ValueError, TrialError) as error:
        print(f"tests.mutation: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("tests.mutation: interrupted", file=sys.stderr)
        return 130
    finally:
        os.chdir("/")
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
