"""Tables for people, made with rich: colours on a terminal, plain text in a pipe.

A table is made as text first and then written like any output, so that a closed pipe or a full
disk is met where every command meets it.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Mapping
from typing import Any

from curriculum.core.visible import quote
from curriculum.trace.inputs import UNAVAILABLE, RefusedError
from curriculum.trace.report import shown_name
from curriculum.trace.stats import Stats

try:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text
except ImportError:
    raise RefusedError(
        "rich is not installed; --format json needs no package, or run `make locked` in a "
        "checkout, then the same command with .venv/bin/python (or pip install '.[trace]' there)",
        UNAVAILABLE,
    ) from None

PLAIN_WIDTH = 100


def to_text(*parts: object) -> str:
    """What rich makes of the parts, as text for standard output, in colour if it is a terminal."""
    is_terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if is_terminal else PLAIN_WIDTH
    has_colour = is_terminal and "NO_COLOR" not in os.environ
    sink = io.StringIO()
    console = Console(file=sink, width=width, force_terminal=has_colour)
    for part in parts:
        console.print(part, soft_wrap=isinstance(part, Text))
    return "".join(f"{line.rstrip()}\n" for line in sink.getvalue().splitlines())


def show_stats(name: str, data: Mapping[str, Any], stats: Stats, cost: str | None) -> str:
    """The statistics of one trace."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column()

    def row(what: str, count: object, more: str = "") -> None:
        table.add_row(Text(what), Text(str(count)), Text(more))

    ended = data["stop"] or "no session.stop yet"
    torn = f", then {data['torn_bytes']} bytes without LF" if data["torn_bytes"] else ""
    row("events", f"{data['events']:,}", f"{data['bytes']:,} bytes, {ended}{torn}")
    row("turns", f"{data['turns']:,}")
    row("requests", f"{data['requests']:,}", _named(data["responses"]))
    row("deltas", f"{data['deltas']:,}")
    row("calls", f"{data['calls']:,}", _named(data["calls_by_status"]))
    row("by tool", len(data["calls_by_tool"]), _named(data["calls_by_tool"]))
    if data["decisions"]:
        row("approvals", sum(data["decisions"].values()), _named(data["decisions"]))
    if data["errors"]:
        row("errors", sum(data["errors"].values()), _named(data["errors"]))
    tokens = data["tokens"]
    total = tokens["input"] + tokens["output"]
    missing = data["responses_without_usage"]
    note = f"; {missing:,} answers without usage" if missing else ""
    row("tokens", f"{total:,}", f"input {tokens['input']:,}, output {tokens['output']:,}{note}")
    if cost is not None:
        unpriced = data["models_without_price"]
        row("cost", cost, f"no price for {_named(unpriced)}" if unpriced else "")
    row("time", _duration(data["elapsed_us"]))
    for phase, spent in data["time_us"].items():
        share = spent / data["elapsed_us"] if data["elapsed_us"] else 0
        row(f"  {phase}", _duration(spent), f"{'█' * round(share * 24)} {share:.0%}".strip())
    if stats.answer_us.count:
        row("time an answer", _duration(round(stats.answer_us.mean)), stats.answer_us.sparkline())
    if stats.answer_tokens.count:
        mean = f"{stats.answer_tokens.mean:,.0f}"
        row("tokens an answer", mean, stats.answer_tokens.sparkline())
    return to_text(Text(shown_name(name), style="bold"), table)


def _named(counts: Mapping[str, int]) -> str:
    """`bash 3, read 1`; a name that is no plain word is quoted."""
    return ", ".join(f"{_word(name)} {count:,}" for name, count in counts.items())


def _word(name: str) -> str:
    return name if name and name.isprintable() and " " not in name else quote(name)


def _duration(us: int) -> str:
    if us < 1000:
        return f"{us} µs"
    if us < 1_000_000:
        return f"{us / 1000:.1f} ms"
    seconds = us / 1_000_000
    if seconds < 60:
        return f"{seconds:.2f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min {rest:02} s" if hours else f"{minutes} min {rest:02} s"
