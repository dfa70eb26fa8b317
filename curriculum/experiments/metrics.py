"""What is read off a run: each metric with its unit and what it says.

All but those named `real_...` follow from the trace and the seed, so they are the same in every
repetition of the experiment on any machine. `real_...` is time on this machine's clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """`is_share`: 0 or 1 in each run, so its mean is a proportion."""

    unit: str
    about: str
    is_share: bool = False


# region: metrics
METRICS: Mapping[str, Metric] = {
    "completed": Metric("", "share of runs in which every input was answered", True),
    "turns_done": Metric("turns", "inputs that were answered"),
    "requests": Metric("requests", "model requests, further attempts included"),
    "calls": Metric("calls", "tool calls that the model asked for"),
    "failed_calls": Metric("calls", "calls that ended as failed"),
    "denied_calls": Metric("calls", "calls that were not allowed"),
    "events": Metric("events", "events in the trace"),
    "elapsed_ms": Metric("ms", "time from start to stop"),
    "tools_ms": Metric("ms", "time in tools"),
    "retry_ms": Metric("ms", "waits before further attempts"),
    "input_tokens": Metric("tokens", "tokens read by the model, summaries included (estimate)"),
    "output_tokens": Metric("tokens", "tokens written by the model (estimate)"),
    "compactions": Metric("requests", "requests of which something was left out"),
    "summaries": Metric("requests", "requests to the model that summarises"),
    "facts_kept": Metric("", "facts told so far that the last request still showed, as a share"),
    "cost": Metric("µ$", "what those tokens cost, at 3 and 15 dollars a million"),
    "effects": Metric("effects", "effects that calls had before the crash"),
    "lost_effects": Metric("effects", "effects of which the resumed model is told nothing"),
    "lost_evidence": Metric("", "share of runs with a lost effect", True),
    "denied_effects": Metric("effects", "effects that are on record as not having happened"),
    "user_told": Metric("", "share of runs whose user is told that something was left out", True),
    "records": Metric("records", "records that the journal kept"),
    "record_bytes": Metric("bytes", "their size"),
    "syncs": Metric("syncs", "times that the disk was asked to make bytes durable"),
    "real_us": Metric("µs", "time of the run on this machine"),
    "real_journal_us": Metric("µs", "time in the journal, the mean of all records"),
    "real_user_input_us": Metric("µs", "time to save an input, the median of the run"),
    "real_model_response_us": Metric("µs", "time to save an answer, the median of the run"),
    "real_tool_start_us": Metric("µs", "time to save that a call starts, the median of the run"),
    "real_tool_result_us": Metric("µs", "time to save a result, the median of the run"),
    "real_turn_end_us": Metric("µs", "time to save the end of a turn, the median of the run"),
}
# endregion
