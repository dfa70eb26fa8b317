"""A trace of any length, for tests and the benchmark of the viewer.

Each event has its shape; the requests do not list the roles of all turns before, which would make
the file grow with the square of the turns.
"""

from __future__ import annotations

from pathlib import Path

from curriculum.core.trace import to_json
from tests.trace import story


def write_long_trace(path: Path, events: int) -> None:
    """Many user turns with one call each; every hundredth call fails. Exactly so many events."""
    turn = [to_json(event) for event in story.calls()[1:-1]]
    failed = to_json(story.result("failed"))
    place = next(i for i, line in enumerate(turn) if '"type":"tool.result"' in line)
    stop = story.stop()
    stop["payload"]["event_count"] = events
    first, last = to_json(story.start()), to_json(stop)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for sequence in range(events):
            number, step = divmod(sequence - 1, len(turn))
            body = first if sequence == 0 else last if sequence == events - 1 else turn[step]
            if step == place and number % 100 == 99:
                body = failed
            body = body.replace('"call-1"', f'"call-{number + 1}"')
            cause = f'"event-{sequence}"' if sequence else "null"
            envelope = (
                f'{{"event_id":"event-{sequence + 1}","sequence":{sequence},"parent_id":{cause},'
                f'"timestamp":"{story.format_timestamp(story.START_US + 1000 * sequence)}",'
                f'"elapsed_us":{1000 * sequence},'
            )
            file.write(f"{envelope}{body[1:]}\n")
