"""The checks of a transition table leave room for other designs than the reference."""

from __future__ import annotations

from curriculum.grading.transition_table import Row, check_table


def test_another_design_passes_too() -> None:
    """The cancel is recorded at the check point, a tool runs without a state in between."""
    stops = {
        by: (f"cancel.request {by}", "error", "session.stop cancelled") for by in ("user", "policy")
    }
    rows: list[Row] = [
        ("ready", "check point", "asking", ("model.request",)),
        ("asking", "chunk", "asking", ("model.delta",)),
        ("asking", "answer", "end", ("model.response completed", "session.stop completed")),
        (
            "asking",
            "answer with a call",
            "acting",
            ("model.response completed", "tool.call", "tool.start"),
        ),
        ("acting", "tool ends", "ready", ("tool.result completed",)),
    ]
    for by, stop in stops.items():
        gone = ("model.response cancelled", *stop)
        rows += [
            (state, f"cancel by {by}", f"{state} {by}", ())
            for state in ("ready", "asking", "acting")
        ]
        rows += [
            (f"{state} {by}", f"cancel by {other}", f"{state} {by}", ())
            for state in ("ready", "asking", "acting")
            for other in stops
        ]
        rows += [(f"ready {by}", "check point", "end", stop)]
        rows += [
            (f"asking {by}", event, "end", gone)
            for event in ("chunk", "answer", "answer with a call")
        ]
        rows += [
            (f"acting {by}", "tool ends", "end", ("tool.result completed", *stop)),
            (f"acting {by}", "tool overdue", "end", ("tool.result unknown", *stop)),
        ]
    assert check_table(rows) == []
