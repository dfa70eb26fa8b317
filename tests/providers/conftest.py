"""Servers for the tests of this folder; every one is closed when its test ends."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from curriculum.providers.scripted_endpoint import ScriptedEndpoint

Serve = Callable[..., ScriptedEndpoint]


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's own proxies and certificates are none of a test's business."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)


@pytest.fixture
def serve() -> Iterator[Serve]:
    """`serve(*exchanges)` or `serve("packaged-name")`: a running endpoint."""
    with contextlib.ExitStack() as stack:

        def start(*exchanges: Any, **given: Any) -> ScriptedEndpoint:
            packaged = len(exchanges) == 1 and isinstance(exchanges[0], str)
            scenario = exchanges[0] if packaged else {"exchanges": list(exchanges)}
            return stack.enter_context(ScriptedEndpoint(scenario, **given))

        yield start
