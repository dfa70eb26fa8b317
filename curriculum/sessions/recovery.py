"""What a restart owes a turn that was cut short: one result for each call, and an end.

A call without a start did not run: `not_executed`. A call with a start and no result may have
run: `unknown`. The turn is `interrupted`. Nothing is run to find out more. What has to be written
follows from what is open, so a recovery that is itself cut short is simply gone on with.
"""

from __future__ import annotations

from curriculum.core.values import TYPE_CHECKING, value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curriculum.sessions.state import SessionState

NOT_EXECUTED = "the harness ended before this call started; nothing ran"
UNKNOWN = (
    "the harness ended after this call had started; it may have taken effect; it was not run again"
)


@value
class Closing:
    """A record that recovery writes: its kind and data."""

    kind: str
    data: dict[str, object]


@value
class Recovery:
    """What opening a session had to do. `turn_id` is the turn it closed as interrupted, or "".

    `not_executed` and `unknown` are the call ids it gave those results. A torn tail of
    `torn_bytes` bytes now lies in the file `torn_path`.
    """

    turn_id: str = ""
    not_executed: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    torn_bytes: int = 0
    torn_path: str = ""


# region: close
def closing_records(state: SessionState) -> Iterator[Closing]:
    """What closes the open turn: results in the order of the calls, then the end."""
    if not state.turn_id:
        return
    for call_id, open_call in list(state.open_calls.items()):
        if open_call.has_started:
            result: dict[str, object] = {"status": "unknown", "output": UNKNOWN}
        else:
            result = {"status": "not_executed", "output": NOT_EXECUTED}
        yield Closing("tool_result", {"call_id": call_id, **result})
    yield Closing("turn_end", {"status": "interrupted"})


# endregion
