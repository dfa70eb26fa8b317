"""`python -m curriculum.trace redact FILE`: a trace fit to be shared; `--check` for CI."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from typing import TextIO, TypeVar

from curriculum.core.errors import TraceError
from curriculum.trace.engines import Engine
from curriculum.trace.events import open_events
from curriculum.trace.inputs import (
    BAD_DATA,
    EXIT_CODES,
    USAGE,
    RefusedError,
    get_engine,
)
from curriculum.trace.outputs import add_secrets, given_secrets, open_output
from curriculum.trace.redact import Held, Redactor, to_line
from curriculum.trace.report import shown_name
from curriculum.trace.schema import OTHER
from curriculum.trace.secret_rules import SecretRules

Parser = TypeVar("Parser", bound=argparse.ArgumentParser)


def add_parser(commands: argparse._SubParsersAction[Parser]) -> None:
    """Add the `redact` subcommand."""
    parser = commands.add_parser(
        "redact",
        help="mask secrets, so that a trace can be shared",
        description="Mask secrets: known values, values under key names, shapes of keys. What no "
        "rule knows stays: read a trace before you share it.",
        epilog="Exit code: 0 written, or with --check nothing to mask; with --check 1 there is; "
        + EXIT_CODES,
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="a trace; - is standard input")
    parser.add_argument("--output", metavar="FILE", help="where to write (default: the terminal)")
    parser.add_argument(
        "--check", action="store_true", help="write nothing, only say what is found"
    )
    add_secrets(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Redact or check; returns the exit code. Raises RefusedError."""
    if not arguments.check and len(arguments.files) > 1:
        raise RefusedError("one file at a time, or --check for many", USAGE)
    if arguments.check and arguments.output:
        raise RefusedError("--check writes nothing; leave out --output", USAGE)
    rules = SecretRules(given_secrets(arguments))
    engine = get_engine()
    try:
        if arguments.check:
            found = [_check(name, rules, engine) for name in arguments.files]
            return 1 if any(found) else 0
        with open_output(arguments.output) as sink:
            _write(arguments.files[0], rules, engine, sink)
    except RefusedError as refused:  # its words may quote the line
        raise RefusedError(_without_secrets(str(refused), rules), refused.exit_code) from None
    return 0


def _without_secrets(text: str, rules: SecretRules) -> str:
    for span in reversed(rules.find(text)):
        text = f"{text[: span.start]}[REDACTED:{span.rule}]{text[span.end :]}"
    return text


def _redacted(name: str, rules: SecretRules, engine: Engine) -> Iterator[tuple[Held, int]]:
    """Each event and how many bytes cannot be read behind the last (0 until then)."""
    redactor = Redactor(rules)
    with open_events(name, engine) as events:
        for event in events:
            for held in redactor.take(event):
                yield held, 0
        for held in redactor.finish():
            yield held, 0
        if events.torn_bytes:
            yield Held({}, events.line + 1), events.torn_bytes


def _check(name: str, rules: SecretRules, engine: Engine) -> int:
    count = 0
    for held, torn in _redacted(name, rules, engine):
        found = held.found
        if torn:
            found = [("", f"{torn} bytes without LF, which cannot be checked")]
        for pointer, mask in found:
            count += 1
            where = f"{ascii(pointer)[1:-1]} " if pointer else ""
            print(f"{shown_name(name)}: line {held.line}: {where}{mask}")
    if not count:
        print(f"{shown_name(name)}: nothing to mask")
    return count


def _misplaced(held: Held, engine: Engine) -> str:
    """Where a mask stands that makes the event none; "" if each may stand where it is."""
    pointers = [pointer for pointer, _ in held.found]
    judge = engine.judges.get(held.event.get("type", OTHER), engine.judges[OTHER])
    if judge.is_valid(held.event) and "/type" not in pointers:
        return ""  # a type that is masked would be taken for one that is not known yet
    wrong = {"/type", *(pointer for pointer, _ in judge.problems(held.event))}
    first = next((pointer for pointer in pointers if pointer in wrong), pointers[0])
    return ascii(first)[1:-1] or "the top of the event"


def _write(name: str, rules: SecretRules, engine: Engine, sink: TextIO) -> None:
    counts: Counter[str] = Counter()
    for held, torn in _redacted(name, rules, engine):
        if torn:
            print(f"redact: the last {torn} bytes have no LF and are left out", file=sys.stderr)
            continue
        if held.found:
            counts.update(mask.split(":")[1] for _, mask in held.found)
            if where := _misplaced(held, engine):
                raise RefusedError(
                    f"line {held.line}: a secret stands at {where}, where no mask may stand; the "
                    "trace cannot be shared",
                    BAD_DATA,
                )
        try:
            sink.write(to_line(held.event))
        except TraceError as fault:
            raise RefusedError(f"line {held.line}: {fault}", BAD_DATA) from None
    masks = ", ".join(f"{rule} {count}" for rule, count in sorted(counts.items()))
    total = sum(counts.values())
    said = f"{total} mask{'' if total == 1 else 's'}" + (f" ({masks})" if masks else "")
    sink.flush()
    print(f"redact: {said}", file=sys.stderr)
