"""`python -m tests.prose` checks every page; `--update` writes quoted code anew from its files."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.golden import ROOT
from tests.prose import checks
from tests.prose.page import Page
from tests.prose.pages import all_pages
from tests.prose.shell import Shell


def main() -> int:
    """Exit code 0 when nothing is wrong (any more), else 1 with the problems on stderr."""
    parser = argparse.ArgumentParser(prog="tests.prose", description=__doc__.split("\n")[0])
    parser.add_argument("--update", action="store_true", help="write quoted code anew")
    parser.add_argument(
        "--outputs", action="store_true", help="write wrong outputs that leave nothing out anew"
    )
    parser.add_argument("page", nargs="*", type=Path, help="only these pages")
    asked = parser.parse_args()
    problems: list[str] = []
    for path in [page.resolve() for page in asked.page] or all_pages():
        page = Page.read(path)
        with tempfile.TemporaryDirectory() as folder:
            shell = Shell(ROOT, Path(folder))
            try:
                if asked.update:
                    page = checks.update_quotes(page, ROOT)
                printed = [shell.run(command.text) for command in checks.commands(page)]
                if asked.outputs:
                    page = checks.update_outputs(page, printed)
                if asked.update or asked.outputs:
                    path.write_text(page.text, "utf-8")
                problems += checks.wrong_outputs(page, printed)
            except (checks.QuoteError, ValueError) as error:
                problems.append(f"{path.name}: {error}")
                continue
        problems += checks.stale_quotes(page, ROOT)
        problems += checks.dead_links(page, ROOT)
        problems += checks.unknown_names(page, ROOT)
        problems += checks.missing_pythons(page)
    for problem in problems:
        print(f"prose: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
