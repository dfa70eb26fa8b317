"""The options of the command line. One that is not given is looked for elsewhere, by `config`."""

from __future__ import annotations

import argparse
from typing import NoReturn

from curriculum import __version__
from curriculum.core.visible import escape
from curriculum.mino import exits
from curriculum.mino.config import OPTIONAL_FIELDS, PROTOCOLS
from curriculum.mino.spending import ANSWER_TOKENS
from curriculum.sessions.replay import RULES

NEWEST = "\0"  # --resume without an ID; no argument can hold this
ABOUT = """\
A terminal agent: it asks before it runs a command, and keeps every step.
Settings come from flags, MINO_*, OPENAI_* and ~/.mino/config.toml, in this
order; `mino doctor` shows them. The key is in OPENAI_API_KEY."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(exits.USAGE, f"{self.prog}: {escape(message)}; see {self.prog} --help\n")


# region: parser
def make_parser() -> argparse.ArgumentParser:
    """The options; one that is not given is not in the result."""
    common = _Parser(add_help=False, argument_default=argparse.SUPPRESS)
    common.add_argument("--home", metavar="DIR", help="mino's folder (default: ~/.mino)")
    common.add_argument("--model", metavar="NAME", help="the model to ask")
    common.add_argument("--base-url", metavar="URL", help="the provider's address, up to /v1")
    common.add_argument(
        "--protocol",
        metavar="NAME",
        help=f"{' or '.join(PROTOCOLS)} (anthropic takes its key from MINO_API_KEY)",
    )
    common.add_argument(
        "--omit",
        metavar="FIELDS",
        help=f"request fields the server does not take: {','.join(OPTIONAL_FIELDS['responses'])}",
    )
    common.add_argument(
        "--replay", metavar="RULE", help=f"of interrupted turns: {' or '.join(RULES)}"
    )
    common.add_argument(
        "--demo", action="store_true", help="a scripted model: no key and no network"
    )
    limits = common.add_argument_group(
        "limits", "none is set by default; a step that does not fit is not begun"
    )
    limits.add_argument("--deadline", metavar="SECONDS", help="of each turn, questions included")
    limits.add_argument(
        "--max-tokens",
        metavar="N",
        help="of all turns until mino ends; before a request, all that it may take must be left "
        f"(a byte is reckoned as a token, an answer as {ANSWER_TOKENS})",
    )
    limits.add_argument(
        "--max-cost", metavar="DOLLARS", help="of all turns until mino ends; needs --prices"
    )
    limits.add_argument(
        "--prices",
        metavar="FILE",
        help="TOML: a table for each model, with input_per_million and output_per_million "
        "(whole micro-dollars per million tokens)",
    )
    limits.add_argument(
        "--context-limit",
        metavar="TOKENS",
        help="of each request; the oldest turns are left out first, then long outputs are cut",
    )
    common.add_argument(
        "--allow-reads",
        action="store_true",
        help="files below this directory may be read without a question, several at once; the "
        "model's provider gets their text",
    )
    turns = _Parser(add_help=False, argument_default=argparse.SUPPRESS)
    turns.add_argument("--trace", metavar="FILE", help="write Trace 0.1 to a new file")
    turns.add_argument(
        "--resume",
        metavar="ID",
        nargs="?",
        const=NEWEST,
        help="go on with a session (the beginning of its id is enough; none: the newest)",
    )
    parser = _Parser(
        prog="mino",
        description=ABOUT,
        parents=[common, turns],
        epilog=exits.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-V", "--version", action="version", version=f"mino {__version__}")
    parser.set_defaults(command="chat")
    commands = parser.add_subparsers(metavar="COMMAND", parser_class=_Parser)
    run = commands.add_parser(
        "run",
        parents=[common, turns],
        help="one turn for scripts",
        epilog=exits.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    run.add_argument("prompt", metavar="PROMPT", help="what to ask; - reads standard input")
    run.add_argument(
        "--allow-rule",
        metavar="RULE",
        action="append",
        default=[],
        help="TOOL=TEXT allows calls whose command, or path, is exactly this text; TOOL:PATTERN "
        "those that match as a whole (* stands for anything, also for ; and line ends); all "
        "others are denied",
    )
    run.add_argument("--json", action="store_true", help="stream Trace 0.1 on standard output")
    run.set_defaults(command="run")
    sessions = commands.add_parser("sessions", parents=[common], help="what can be resumed")
    sessions.set_defaults(command="sessions")
    doctor = commands.add_parser("doctor", parents=[common], help="what would be used")
    doctor.set_defaults(command="doctor")
    return parser


# endregion
