"""R01, R02 and R05: marks and planted secrets."""

from __future__ import annotations

from collections.abc import Iterator

from tests.trace.cases.edit import Case, Edit

SECRET = 'planted "secret" 4711'


def redaction() -> Iterator[Case]:
    mask = "[REDACTED:key:1]"
    edit = Edit()
    marks = {"status": "redacted", "items": ["/payload/text"]}
    line = edit.fields("user.message", redaction=marks)
    yield edit.case("R01-no-place", "a pointer to nothing", (line, "R01", "/redaction/items/0"))
    edit = Edit()
    marks = {"status": "redacted", "items": ["/payload/content"]}
    line = edit.fields("user.message", redaction=marks)
    yield edit.case("R01-no-mask", "a text without a mask", (line, "R01", "/redaction/items/0"))
    edit = Edit()
    edit.payload("user.message", content=f"My key is {mask}.")
    line = edit.fields("user.message", redaction={"status": "clean"})
    yield edit.case("R02-mask", "clean, yet masked", (line, "R02", "/redaction/status"))
    edit = Edit()
    line = edit.payload("user.message", content=f"My key is {SECRET}.")
    yield edit.case("R05-secret", "a planted secret", (line, "R05", ""), secrets=(SECRET,))
    edit = Edit()
    edit.payload("model.delta", text=f"It is {SECRET[:9]}")
    edit.payload("model.delta", 1, text=f"{SECRET[9:]}.")
    edit.payload("model.response", content=f"It is {mask}.")
    line = edit.fields(
        "model.response", redaction={"status": "redacted", "items": ["/payload/content"]}
    )
    seam = (line, "R05", "/payload/chunks")
    yield edit.case("R05-across-deltas", "a secret in two pieces", seam, secrets=(SECRET,))
