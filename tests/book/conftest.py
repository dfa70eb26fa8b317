"""The book, built once and served; every page opened in it is watched by `open_page`."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Request

from lessons.book.__main__ import build

PHONE = {"viewport": {"width": 390, "height": 844}}
Opened = Callable[..., Page]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the browser tells what failed."""


@pytest.fixture(scope="session")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("book") / "book"
    assert build(folder) == []
    return folder


@pytest.fixture(scope="session")
def site(book: Path) -> Iterator[str]:
    """The address under which the book is served."""
    handler = functools.partial(_Quiet, directory=str(book))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def open_page(browser: Browser, site: str, book: Path) -> Iterator[Opened]:
    """Opens a page of the book, from the server or `from_disk`.

    Fails the test if a page logs or throws something, if a request fails or leaves the book.
    """
    wrong: list[str] = []
    contexts = []

    def opened(path: str, from_disk: bool = False, **look: object) -> Page:
        home = book.as_uri() if from_disk else site
        given = {"viewport": {"width": 1280, "height": 900}, "locale": "en-GB", **look}
        context = browser.new_context(**given)  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: wrong.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: wrong.append(str(error)))

        def fail(request: Request) -> None:
            if request.failure != "net::ERR_ABORTED":  # what a page that is left still waits for
                wrong.append(f"{request.failure}: {request.url}")

        def see(url: str, status: int) -> None:
            if status >= 400 or not url.startswith((home, "data:")):
                wrong.append(f"{status}: {url}")

        page.on("requestfailed", fail)
        page.on("request", lambda request: see(request.url, 0))
        page.on("response", lambda response: see(response.url, response.status))
        page.goto(f"{home}/{path}")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert contexts, "no page was opened"
    assert wrong == []
