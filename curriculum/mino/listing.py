"""`mino sessions`: what is there to go on with, the newest first."""

from __future__ import annotations

from curriculum.core.visible import quote
from curriculum.sessions.listing import Summary, list_sessions
from curriculum.sessions.show import as_row


def resumable(home: str) -> list[Summary]:
    """The sessions with something to go on with: not those that were left before a turn began.

    Such a file stays where it is, and its ID still opens it. Raises SessionError.
    """
    return [summary for summary in list_sessions(home) if summary.status != "new"]


def session_rows(home: str) -> list[str]:
    """One row for each session, or one that says that there is none. Raises SessionError."""
    summaries = resumable(home)
    if not summaries:
        return [f"No sessions in {quote(home)}."]
    width = max(len(summary.session_id) for summary in summaries)
    return [as_row(summary, width) for summary in summaries]
