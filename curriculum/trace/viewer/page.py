"""The page around the traces: markup, one style, one script, and the policy that allows no more.

The modules of `web/` are joined in the order of their imports, so the page needs no network and
no build step. The policy names the hashes of the style and of the script, forbids every request,
and lets no text become markup (Trusted Types).
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from curriculum.trace.viewer.blocks import Block, embed

FOLDER = Path(__file__).resolve().parent / "web"
MAIN = "main.js"
DATA, SCRIPT = "<!-- data -->", "<!-- script -->"

_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./([a-z-]+\.js)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)


class Page:
    """The static parts, read once."""

    def __init__(self, is_live: bool = False) -> None:
        self._style = (FOLDER / "style.css").read_text("utf-8")
        self._script = join_modules()
        self.policy = make_policy(self._style, self._script, is_live)
        markup = (FOLDER / "page.html").read_text("utf-8")
        markup = markup.replace("<!-- policy -->", self.policy)
        markup = markup.replace("<!-- style -->", f"<style>{self._style}</style>")
        self._head, _, rest = markup.partition(DATA)
        self._between, _, self._tail = rest.partition(SCRIPT)

    def begin(self) -> str:
        """What stands before the data."""
        return self._head

    def end(self, about: object) -> str:
        """What stands behind the data; `about` says what the page shows."""
        told = f'<script type="application/json" id="about">{embed(about)}</script>\n'
        script = f'<script type="module">{self._script}</script>'
        return f"{told}{self._between}{script}{self._tail}"


def data_elements(letter: str, block: Block) -> str:
    """One block of the trace `letter` as two elements that no browser runs."""
    kind = f'<script type="application/json" data-{letter}'
    return f"{kind}-index>{block.index}</script>\n{kind}-lines>{block.lines}</script>\n"


def join_modules() -> str:
    """All modules as one script: each in a scope of its own, behind those it imports."""
    joined = "".join(_scope(name) for name in _in_order(MAIN, set()))
    if "</" in joined or "<!--" in joined:
        raise ValueError("a module holds </ or <!--, which would end the script element")
    return f"\nconst modules = {{}};\n{joined}"


def _in_order(name: str, seen: set[str]) -> Iterator[str]:
    if name in seen:
        return
    seen.add(name)
    for _, needed in _IMPORT.findall((FOLDER / name).read_text("utf-8")):
        yield from _in_order(needed, seen)
    yield name


def _scope(name: str) -> str:
    text = (FOLDER / name).read_text("utf-8")
    given = ", ".join(_EXPORT.findall(text))
    body = _EXPORT.sub("", _IMPORT.sub(r'const \1 = modules["\2"];', text))
    if re.search(r"^(?:import|export) ", body, re.MULTILINE):
        raise ValueError(f"{name} imports or exports in a way that cannot be joined")
    return f'modules["{name}"] = (() => {{\n{body}return {{ {given} }};\n}})();\n'


def make_policy(style: str, script: str, is_live: bool) -> str:
    """The Content-Security-Policy of the page."""
    parts = [
        "default-src 'none'",
        f"script-src {_hash(script)}",
        f"style-src {_hash(style)}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
    if is_live:
        parts.append("connect-src 'self'")
    return "; ".join(parts)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
