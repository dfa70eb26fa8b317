"""The model kit looks at what a provider was sent, also where the provider would not complain."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

import pytest

from curriculum.grading.model_conformance import check_model
from curriculum.grading.model_under_test import Entry, Sent
from curriculum.tests.under_test import ScriptedUnderTest


class Distorted(ScriptedUnderTest):
    """ScriptedModel, as if its provider had been sent something else."""

    def __init__(self, change: Callable[[Entry], Iterable[Entry]]) -> None:
        super().__init__()
        self._change = change

    def sent(self) -> list[Sent]:
        return [
            Sent(sent.system, tuple(new for entry in sent.entries for new in self._change(entry)))
            for sent in super().sent()
        ]


def but(of: str, **fields: object) -> Callable[[Entry], list[Entry]]:
    """Entries of that role with other fields."""
    return lambda e: [dataclasses.replace(e, **fields) if e.role == of else e]  # type: ignore[arg-type]


DISTORTIONS: dict[str, tuple[Callable[[Entry], Iterable[Entry]], list[str]]] = {
    "calls lost": (but("assistant", calls=()), ["results are paired:", "in the request again"]),
    "ids lost": (but("tool", call_id="x"), ["results are paired:", "under its own call_id"]),
    "results changed": (but("tool", text="ok"), ["results are paired:", "its own call_id"]),
    "results as user": (but("tool", role="user"), ["results are paired:"]),
    "private lost": (but("assistant", private=""), ["private items:"]),
    "doubled": (lambda entry: [entry, entry], ["conversation:", "system prompt:", "no memory:"]),
    "nothing sent": (lambda entry: [], ["conversation:", "results are paired:"]),
}


@pytest.mark.parametrize("name", DISTORTIONS)
def test_a_wrong_request_is_seen_whatever_the_provider_says(name: str) -> None:
    change, messages = DISTORTIONS[name]
    findings = "\n".join(check_model(Distorted(change)))
    for message in messages:
        assert message in findings


def test_a_check_that_is_lacking_must_exist() -> None:
    under_test = ScriptedUnderTest()
    under_test.lacks = {"telepathy": "not built in"}
    with pytest.raises(ValueError, match="telepathy"):
        check_model(under_test)
