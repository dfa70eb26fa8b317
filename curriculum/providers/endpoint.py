"""Where a model is reached: the address, the key, and how long to wait. Checked before any use.

A key or an address that cannot be right is refused here, before a client sees it and before a
session exists. The key is held by one value that does not show it; see `key_mask` for the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from curriculum.providers.key_mask import KeyMask


@dataclass(frozen=True)
class Endpoint:
    """An address such as `https://api.openai.com/v1`, and the key for it (None: send none).

    `connect_seconds` bounds connecting, `silence_seconds` the wait for the next byte, and
    `max_wait_seconds` is the longest Retry-After that is worth waiting for. Raises ValueError, one
    line without the key, if address or key cannot be right.
    """

    base_url: str
    api_key: str | None = field(repr=False)
    connect_seconds: float = 10.0
    silence_seconds: float = 300.0
    max_wait_seconds: float = 60.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "base_url", check_url(self.base_url))
        if self.api_key is not None:
            object.__setattr__(self, "api_key", check_key(self.api_key))
        if holds_key(self.base_url, self.api_key):
            raise ValueError("the base URL holds the API key; take it out: addresses are shown")
        if min(self.connect_seconds, self.silence_seconds, self.max_wait_seconds) <= 0:
            raise ValueError(
                "connect_seconds, silence_seconds and max_wait_seconds must be above 0"
            )

    def url(self, path: str) -> str:
        """The address of `path`; a query in the base address stays at its end."""
        parts = urlsplit(self.base_url)
        return parts._replace(path=f"{parts.path.rstrip('/')}/{path}").geturl()


# region: key
def check_key(text: str) -> str:
    """The key without white space around it (files end in a line break); never part of a message.

    Raises ValueError for a key that is empty, of several words or lines, or not printable ASCII:
    it could not be a header, or would put another header into the request.
    """
    key = text.strip()
    if not key:
        raise ValueError("the API key is empty; set it to the key of your account")
    if len(key.split()) > 1:
        raise ValueError("the API key has white space or a line break in it; give exactly one key")
    if not key.isascii() or not key.isprintable():
        raise ValueError("the API key has characters that no key has; copy it again, as plain text")
    return key


# endregion


def holds_key(text: str, key: str | None) -> bool:
    """Whether the key stands in that text, which is going to be shown."""
    return KeyMask(key).text(text) != text


def check_url(text: str) -> str:
    """The address without white space around it. Raises ValueError if no request can go there."""
    url = text.strip()
    if not url.isascii() or not url.isprintable() or " " in url:
        raise ValueError("the base URL has a space or characters that no URL has; write it again")
    try:
        parts = urlsplit(url)
        has_port = parts.port is None or parts.port > 0
    except ValueError as fault:
        raise ValueError(f"the base URL is not an address ({fault}); check it") from None
    if "@" in parts.netloc:  # said first: no other message may show what stands before the @
        raise ValueError(
            "the base URL holds a user name or key; take it out and give the key apart"
        )
    if parts.scheme not in ("http", "https") or not parts.hostname or not has_port:
        raise ValueError(f"the base URL must look like https://HOST/v1, not {url!r}")
    if parts.fragment:
        raise ValueError("the base URL ends in #...; leave that out")
    return url
