"""What a running command prints: both streams, decoded as they come, under one shared cap.

At most `limit` bytes are ever kept, so memory stays flat whatever a command prints. Bytes that are
not UTF-8 become U+FFFD; a character that the cap (or a kill) cuts in two is left out whole. The
text is raw: escaping control characters is the work of whoever shows it.
"""

from __future__ import annotations

import codecs

from curriculum.core.values import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

    Stream = Literal["stdout", "stderr"]

STREAMS: tuple[Stream, ...] = ("stdout", "stderr")


class Capture:
    """Takes bytes of either stream until `limit` bytes are kept; `show` hears each new text."""

    def __init__(self, limit: int, show: Callable[[str, str], None] | None = None) -> None:
        self.sizes = dict.fromkeys(STREAMS, 0)
        self.overflowed = False
        self._limit = limit
        self._show = show
        decoder = codecs.getincrementaldecoder("utf-8")
        self._decoders = {stream: decoder("replace") for stream in STREAMS}
        self._texts: dict[Stream, list[str]] = {stream: [] for stream in STREAMS}

    @property
    def room(self) -> int:
        """Bytes that may still be kept."""
        return self._limit - sum(self.sizes.values())

    def add(self, stream: Stream, data: bytes) -> None:
        """Keep what fits. The first byte that does not fit is the overflow."""
        kept = data[: self.room]
        self.overflowed = self.overflowed or len(kept) < len(data)
        self.sizes[stream] += len(kept)
        self._keep(stream, self._decoders[stream].decode(kept))

    def close(self, whole: bool) -> None:
        """No more is coming. `whole` says that the command ended its output itself."""
        for stream, decoder in self._decoders.items():
            self._keep(stream, decoder.decode(b"", final=True) if whole else "")
            decoder.reset()

    def text(self, stream: Stream) -> str:
        """What was kept of one stream."""
        return "".join(self._texts[stream])

    def _keep(self, stream: Stream, text: str) -> None:
        if text:
            self._texts[stream].append(text)
            if self._show:
                show, self._show = self._show, None  # one that raises is not called again
                show(stream, text)
                self._show = show
