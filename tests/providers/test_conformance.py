"""Every adapter passes the kits that any model is put through, over a real socket."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from curriculum.grading.model_conformance import check_model
from curriculum.grading.streaming_conformance import check_stream
from tests.providers.wires import WIRES, Served, ServedStream


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("wire", WIRES)
def test_adapter_is_a_model(wire: str, seed: int) -> None:
    with ExitStack() as stack:
        assert check_model(Served(WIRES[wire], stack), seed) == []


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("wire", WIRES)
def test_adapter_shows_text_while_it_arrives(wire: str, seed: int) -> None:
    with ExitStack() as stack:
        assert check_stream(ServedStream(WIRES[wire], stack), seed) == []
