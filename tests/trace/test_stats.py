"""Statistics: every number against a trace whose numbers are known, and memory that stays."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import tracemalloc
from contextlib import redirect_stdout
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table
from rich.text import Text

from curriculum.trace.prices import MOST_BYTES, Price, as_dollars, round_up
from curriculum.trace.series import Series
from curriculum.trace.stats import MOST_NAMES, OTHERS, Stats
from curriculum.trace.tables import to_text
from tests.golden import ROOT
from tests.trace.commands import COMMAND, run
from tests.trace.runs import PLANS, Plan, perform
from tests.trace.story import (
    Event,
    call,
    calls,
    delta,
    error,
    event,
    failed,
    numbered,
    place,
    request,
    response,
    start,
    stop,
    to_bytes,
    user,
)


def counted(events: list[Event], prices: dict[str, Price] | None = None) -> dict[str, Any]:
    stats = Stats(prices)
    for one in events:
        stats.take(one)
    return stats.as_data()


def with_usage(*tokens: tuple[int, int]) -> list[Event]:
    story = calls()
    for nth, (read, made) in enumerate(tokens):
        usage = {"input_tokens": read, "output_tokens": made}
        story[place(story, "model.response", nth)]["payload"]["usage"] = usage
    return numbered(story)


def test_what_happened_is_counted() -> None:
    data = counted(numbered(calls()))
    assert data["events"] == 15
    assert data["turns"] == 1
    assert data["requests"] == 2
    assert data["responses"] == {"completed": 2}
    assert data["deltas"] == 2
    assert data["calls_by_status"] == {"completed": 1}
    assert data["calls_by_tool"] == {"bash": 1}
    assert data["decisions"] == {"allow": 1}
    assert data["stop"] == "completed"


def test_time_belongs_to_what_goes_on() -> None:
    data = counted(numbered(calls()))  # 1,000 µs from each event to the next
    assert data["elapsed_us"] == 14_000
    assert data["time_us"] == {
        "model": 4_000,  # three until the first answer, one until the second
        "tools": 2_000,
        "approval": 1_000,
        "retry": 0,
        "harness": 7_000,
    }


def timed(*steps: tuple[int, Event]) -> list[Event]:
    """Events at the given times, in µs since the first."""
    made = numbered([one for _, one in steps])
    return [{**one, "elapsed_us": at} for (at, _), one in zip(steps, made, strict=True)]


def retried(wait_at: int, ask_at: int, *answer: tuple[int, Event]) -> dict[str, Any]:
    """A failed attempt from 10 to 110 µs, a wait of 500, and another attempt."""
    about = {"request_id": "request-1", "attempt": 1, "cause": "overloaded", "wait_us": 500}
    again = request(2, "user", attempt=2, turn=1, retry_of="request-1")
    events = timed(
        (0, start()),
        (0, user()),
        (10, request(1, "user")),
        (110, failed(1)),
        (wait_at, event("retry.wait", "harness", **about)),
        (ask_at, again),
        *answer,
    )
    return counted(events)


def test_a_wait_that_follows_the_next_request_is_no_time_of_the_model() -> None:
    """As this harness records it: the next attempt is on record before the wait."""
    data = retried(110, 110, (680, response(2, "Yes.")), (690, stop()))
    assert data["time_us"] == dict(model=100 + 70, tools=0, approval=0, retry=500, harness=20)
    assert data["answer_us"] == [100, 70]


def test_a_wait_before_the_next_request_is_counted_once() -> None:
    data = retried(110, 615, (680, response(2, "Yes.")), (690, stop()))
    assert data["time_us"] == dict(model=100 + 65, tools=0, approval=0, retry=505, harness=20)
    assert data["answer_us"] == [100, 65]


def test_a_first_sign_of_the_answer_ends_the_wait() -> None:
    """Whatever was announced: the clock of a scripted run knows nothing of its waits."""
    data = retried(110, 110, (200, delta(2, 0, "Yes.")), (300, response(2, "Yes.")), (300, stop()))
    assert data["time_us"]["retry"] == 90
    assert data["time_us"]["model"] == 100 + 100


def test_what_a_new_turn_finds_open_goes_on_no_longer() -> None:
    events = numbered([*calls()[:3], user(), stop(), call()])
    for one, at in zip(events, (0, 10, 20, 50, 90, 100), strict=True):
        one["elapsed_us"] = at
    assert counted(events)["time_us"] == dict(model=30, tools=0, approval=0, retry=0, harness=70)
    stopped = numbered([*calls()[:3], stop(), call()])
    for one, at in zip(stopped, (0, 10, 20, 50, 90), strict=True):
        one["elapsed_us"] = at
    assert counted(stopped)["time_us"] == dict(model=30, tools=0, approval=0, retry=0, harness=60)


def test_tokens_and_cost_are_exact() -> None:
    story = with_usage((1_000, 10), (1, 1))
    data = counted(story, {"model": Price(3_000_000, 15_000_000)})
    assert data["tokens"] == {"input": 1_001, "output": 11}
    assert data["cost_micro_dollars"] == 1_001 * 3 + 11 * 15
    assert data["responses_without_usage"] == 0
    assert data["models_without_price"] == {}


def test_a_model_without_price_is_named_and_a_star_is_any_model() -> None:
    story = with_usage((5, 5))
    assert counted(story, {})["models_without_price"] == {"model": 1}
    assert counted(story, {"*": Price(1_000_000, 0)})["cost_micro_dollars"] == 5
    assert "cost_micro_dollars" not in counted(story)


def test_a_part_of_a_micro_dollar_is_one() -> None:
    assert round_up(Price(1, 0).of(1, 0)) == 1
    assert round_up(0) == 0
    assert as_dollars(1_234_567_890) == "$1,234.567890"


@given(PLANS)
def test_time_is_spent_once_in_any_run(plan: Plan) -> None:
    events = [json.loads(line) for line in perform(plan).splitlines()]
    data = counted(events)
    assert sum(data["time_us"].values()) == data["elapsed_us"] == events[-1]["elapsed_us"]
    assert sum(data["types"].values()) == data["events"] == len(events)
    assert sum(data["calls_by_status"].values()) == data["calls"]


@given(st.lists(st.integers(0, 1000), max_size=400))
def test_a_series_keeps_its_sum_in_its_room(numbers: list[int]) -> None:
    series = Series(room=8)
    for number in numbers:
        series.add(number)
    assert len(series.means) <= 8
    assert series.mean * len(numbers) == pytest.approx(sum(numbers))
    assert len(series.sparkline()) == len(series.means)


def test_a_sparkline_shows_the_shape() -> None:
    series = Series()
    for number in (0, 7, 14):
        series.add(number)
    assert series.sparkline() == "▁▅█"


def test_names_beyond_the_most_are_others() -> None:
    story = [call(name=f"tool-{number}") for number in range(MOST_NAMES + 5)]
    data = counted(numbered(story))
    assert len(data["calls_by_tool"]) == MOST_NAMES + 1
    assert data["calls_by_tool"][OTHERS] == 5


def test_memory_does_not_grow_with_the_trace() -> None:
    story = with_usage((1, 1), (1, 1))
    stats = Stats({"*": Price(1, 1)})

    def feed(rounds: int) -> int:
        for _ in range(rounds):
            for one in story:
                stats.take(one)
        return tracemalloc.get_traced_memory()[0]

    feed(200)
    tracemalloc.start()
    first = feed(10)
    last = feed(1000)
    tracemalloc.stop()
    assert last - first < 20_000


def test_the_table_shows_numbers_and_bars(tmp_path: Path) -> None:
    trace, prices = tmp_path / "trace.jsonl", tmp_path / "prices.json"
    trace.write_bytes(to_bytes(with_usage((1_000_000, 0), (0, 2))))
    prices.write_text('{"model":{"input":3000000,"output":15000000}}')
    done = run("stats", trace, "--prices", prices)
    assert done.returncode == 0
    rows = {line.split("  ")[0].strip(): line.split() for line in done.stdout.splitlines()[1:]}
    rows |= {line.split()[0]: line.split() for line in done.stdout.splitlines()[1:]}
    assert rows["calls"][1:] == ["1", "completed", "1"]
    assert rows["cost"][1:] == ["$3.000030"]
    assert rows["model"][1:3] == ["4.0", "ms"]
    assert rows["tokens an answer"][-1] == "█▁"
    assert "\x1b" not in done.stdout


WIDE = " ".join(["word"] * 26)  # 129 columns


def table_on(stream: TextIO, name: str = "name") -> list[str]:
    table = Table(box=None, show_header=False, padding=0)
    table.add_row(Text(WIDE))
    with redirect_stdout(stream):
        return to_text(Text(name, style="bold"), table).splitlines()


@pytest.mark.parametrize("has_colour", [True, False])
def test_a_terminal_gets_its_width_and_colours_unless_they_are_unwanted(
    has_colour: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    if not has_colour:
        monkeypatch.setenv("NO_COLOR", "1")
    master, slave = pty.openpty()
    with open(slave, "w") as terminal:
        name, *rows = table_on(terminal)
    os.close(master)
    assert name == ("\x1b[1mname\x1b[0m" if has_colour else "name")
    assert rows == [WIDE]


def test_a_pipe_gets_plain_text_of_a_hundred_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    monkeypatch.setenv("FORCE_COLOR", "1")
    long = "a-name-in-one-line" * 10
    name, *rows = table_on(io.StringIO(), long)
    assert name == long
    assert rows == [WIDE[:99], WIDE[100:]]


def test_json_is_one_object_a_file() -> None:
    data = to_bytes(with_usage((3, 4)))
    done = run("stats", "--format", "json", "-", data=data + b'{"to')
    found = json.loads(done.stdout)
    assert found["file"] == "-"
    assert found["bytes"] == len(data) + 4
    assert found["torn_bytes"] == 4
    assert found["tokens"] == {"input": 3, "output": 4}


def test_hostile_names_stay_on_their_line(tmp_path: Path) -> None:
    story = numbered([*calls()[:2], call(name="a\x1b[2J\nb"), error("bad")])
    path = tmp_path / "x\x1b[31m\n.jsonl"
    path.write_bytes(to_bytes(story))
    done = run("stats", path)
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert '"a\\x1b[2J\\nb" 1' in done.stdout


def test_prices_are_a_file_of_some_size(tmp_path: Path) -> None:
    """A named pipe is not waited for, and a device without an end not read."""
    pipe, large = tmp_path / "pipe", tmp_path / "large"
    os.mkfifo(pipe)
    large.write_bytes(b" " * (MOST_BYTES + 1))
    told = {pipe: "not a regular file", Path("/dev/zero"): "not a regular file"}
    for path, why in {**told, large: f"larger than {MOST_BYTES} bytes"}.items():
        done = run("stats", "-", "--prices", path)
        assert (done.returncode, done.stdout) == (66, "")
        assert done.stderr == f"stats: {path}: {why}\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"m":1}',
        '{"m":{"input":1}}',
        '{"m":{"input":1.5,"output":1}}',
        '{"m":{"input":-1,"output":1}}',
    ],
)
def test_prices_that_are_none_are_one_line(tmp_path: Path, text: str) -> None:
    prices = tmp_path / "prices.json"
    prices.write_text(text)
    done = run("stats", "-", "--prices", prices)
    assert done.returncode == 66
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1


def test_without_rich_there_is_still_json() -> None:
    probe = (
        "import sys; sys.modules['rich'] = None; sys.modules['rich.console'] = None\n"
        "from curriculum.trace.__main__ import main; sys.exit(main(sys.argv[1:]))"
    )
    data = to_bytes(numbered(calls()))
    base = [COMMAND[0], "-c", probe, "stats", "-"]
    text = subprocess.run(base, cwd=ROOT, input=data, capture_output=True)
    assert text.returncode == 69
    assert len(text.stderr.splitlines()) == 1
    as_json = subprocess.run([*base, "--format", "json"], cwd=ROOT, input=data, capture_output=True)
    assert as_json.returncode == 0


def test_head_gets_the_first_of_many_files(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_bytes(to_bytes(numbered(calls())))
    process = subprocess.Popen(
        [*COMMAND, "stats", *[str(path)] * 40],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout
    assert process.stderr
    head = list(islice(process.stdout, 2))
    process.stdout.close()
    assert head[1].split()[:2] == [b"events", b"15"]
    assert process.wait(timeout=60) in (0, 141)
    assert process.stderr.read() == b""
    process.stderr.close()


def test_an_event_of_a_vendor_is_counted_by_its_type() -> None:
    data = counted(numbered([*calls()[:-1], event("x.acme.note", "harness"), calls()[-1]]))
    assert data["types"]["x.acme.note"] == 1
