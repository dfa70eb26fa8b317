"""The viewer over the length of a trace: what grows with it and what must not, as ratios.

Each page is opened in a real Chromium. `ready` is from navigation to the first drawn event (a file
must be read, so it grows), `step` from a key to the event that it leads to at the end of the trace,
`search` a text that is nowhere, `heap` what JavaScript holds after a collection, `rows` how many
rows exist. `build` is what the command takes, without the start of Python, beside reading the same
events with the same engine.

    python tests/benchmarks/bench_viewer.py [--json] [--times N]
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, Page, sync_playwright  # noqa: E402

from curriculum.trace.engines import make_engine  # noqa: E402
from curriculum.trace.events import open_events  # noqa: E402
from curriculum.trace.viewer.build import write_page  # noqa: E402
from tests.benchmarks.rounds import compare  # noqa: E402
from tests.trace_viewer.long_trace import write_long_trace  # noqa: E402

SIZES = (1_000, 10_000, 100_000)
READY = '.row[aria-selected="true"]'
STEP = """key => new Promise(done => {
  const begin = performance.now();
  document.body.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin)));
})"""


def seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def build(trace: Path, page: Path) -> tuple[float, float]:
    """Processor seconds for the page, and for only reading the events."""
    engine = make_engine()

    def write() -> None:
        with page.open("w", encoding="utf-8") as sink:
            write_page([str(trace)], engine, sink)

    def read() -> None:
        with open_events(str(trace), engine) as events:
            for _ in events:
                pass

    return seconds(write), seconds(read)


def heap(page: Page) -> int:
    """Bytes of JavaScript objects that are still reachable."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    return int(session.send("Runtime.getHeapUsage")["usedSize"])


def look(browser: Browser, path: Path) -> dict[str, float]:
    """One opening of a page. Times in ms."""
    page = browser.new_page(locale="en-GB")
    began = time.perf_counter()
    page.goto(path.as_uri())
    page.locator(READY).wait_for()
    ready = 1000 * (time.perf_counter() - began)
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    page.keyboard.press("End")
    steps = [page.evaluate(STEP, key) for key in ["ArrowLeft", "ArrowRight"] * 10]
    held, rows = heap(page), page.locator(".row").count()
    began = time.perf_counter()
    page.locator("#query").fill("no trace holds this")
    page.locator("#found", has_text=re.compile(r"^0 of")).wait_for()
    search = 1000 * (time.perf_counter() - began)
    page.close()
    return {
        "paint_ms": paint,
        "ready_ms": ready,
        "step_ms": statistics.median(steps),
        "search_ms": search,
        "heap_mb": held / 1e6,
        "rows": rows,
    }


def measure(folder: Path, times: int) -> list[dict[str, float]]:
    """One row for each size: medians of several openings."""
    table = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for size in SIZES:
            trace, page = folder / f"{size}.jsonl", folder / f"{size}.html"
            write_long_trace(trace, size)
            written, read = build(trace, page)
            looks = [look(browser, page) for _ in range(times)]
            row = {key: statistics.median(one[key] for one in looks) for key in looks[0]}
            megabytes = page.stat().st_size / 1e6
            table.append(
                {"events": size, "page_mb": megabytes, "build_s": written, "read_s": read, **row}
            )
        browser.close()
    return table


def main() -> int:
    """Print the table; the exit code is always 0, as a benchmark is no test."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="one JSON object in place of a table")
    parser.add_argument("--times", type=int, default=3, help="openings of each page")
    given = parser.parse_args()
    if not shutil.which("chromium"):
        print("bench_viewer: no Chromium; install it (Debian: apt-get install chromium)")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        table = measure(Path(folder), given.times)
    if given.json:
        taken = {name: [row[name] for row in table[-1:]] for name in ("build_s", "read_s")}
        ratio = compare("viewer: page of 100,000 events", "build_s", "read_s", taken)
        ratio["against"] = "reading them"
        print(json.dumps({"benchmark": "viewer", "rows": table, "ratios": [ratio]}))
        return 0
    for key in table[0]:
        values = "".join(f"{row[key]:>12,.1f}" for row in table)
        ratio = table[-1][key] / table[0][key] if table[0][key] else 0
        print(f"{key:<18}{values}{ratio:>9.1f}x")
    return 0


if __name__ == "__main__":
    sys.exit(main())
