"""The cases of `traces/invalid`: each breaks one rule, and says which findings it must give.

The expectations are written by hand beside what breaks; they are never taken from the validator.
Lines count from 1.
"""

from __future__ import annotations

from tests.trace.cases.edit import Case
from tests.trace.cases.framing import framing
from tests.trace.cases.model import deltas, model
from tests.trace.cases.order import life, order
from tests.trace.cases.redaction import redaction
from tests.trace.cases.shape import shape
from tests.trace.cases.tools import approvals, tools


def all_cases() -> list[Case]:
    """Every case, in the order of the contract."""
    families = (framing, shape, order, life, model, deltas, tools, approvals, redaction)
    return [case for family in families for case in family()]
