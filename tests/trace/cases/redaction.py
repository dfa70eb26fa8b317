"""R01, R02 and R05: marks and planted secrets."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.trace import story
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
    edit.payload("user.message", content=f"My key is {mask}.")
    line = edit.fields("user.message", redaction={"status": "clean"})
    data = edit.data().replace(b"[REDACTED", rb"\u005bREDACTED")
    found = (line, "R02", "/redaction/status")
    yield Case("R02-escaped", "clean, yet masked: the mask begins with \\u005b", data, (found,))
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
    edit = Edit()
    call = {**story.CALL, "arguments": f'{{"command":"rm -rf / {mask}"}}'}
    edit.payload("model.response", tool_calls=[call])
    line = edit.payload("tool.call", arguments='{"command":"ls"}')
    found = (line, "T08", "/payload/arguments")
    yield edit.case("T08-mask", "other arguments than proposed, beside a mask", found)
    edit = Edit()
    line = edit.payload("model.response", content=f"Something else {mask}")
    found = (line, "D03", "/payload/content")
    yield edit.case("D03-mask", "other words than the deltas, beside a mask", found)
    yield from spelled()


def spelled() -> Iterator[Case]:
    """R05 is about what a line says, however it is spelled."""
    edit = Edit()
    line = edit.payload("user.message", content="My key is planted.")
    data = edit.data().replace(b"is planted", rb"is \u0070l\u0061nted")
    says = "a planted secret, two letters of it escaped"
    yield Case("R05-escaped", says, data, ((line, "R05", ""),), secrets=("planted",))
    edit = Edit()
    arguments = json.dumps({"command": f"echo {SECRET}"})
    call = {**story.CALL, "arguments": arguments}
    proposed = edit.payload("model.response", tool_calls=[call])
    line = edit.payload("tool.call", arguments=arguments)
    found = [(proposed, "R05", ""), (line, "R05", "")]
    says = "a planted secret in arguments: JSON in JSON"
    yield edit.case("R05-arguments", says, *found, secrets=(SECRET,))
    edit = Edit()
    edit.payload("tool.output", text=SECRET[:9])
    line = edit.put(edit.at("tool.result"), story.output(1))
    edit.payload("tool.output", 1, text=SECRET[9:])
    seam = (line, "R05", "/payload/text")
    yield edit.case("R05-across-outputs", "a secret in two outputs", seam, secrets=(SECRET,))
    edit = Edit([story.start(), story.user(), story.request(1, "user")])
    edit.put(3, story.delta(1, 0, SECRET[:9]), story.delta(1, 1, SECRET[9:]))
    seam = (5, "R05", "/payload/text")
    yield edit.case("R05-open", "a secret in two deltas, no response", seam, secrets=(SECRET,))
