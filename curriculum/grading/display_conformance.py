"""A conformance kit for what a person is shown before a question: any `render(request) -> str`.

Every text that somebody else may have written (tool, names, command, directory, environment) is
attacked in its place. What is shown must be visible, one line a field, whole, of a stated size, and
tell any two requests apart. The kit never looks at how it is done.
"""

from __future__ import annotations

import itertools
import os
import random
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping

from curriculum.core.approval import ApprovalRequest, HumanApprover
from curriculum.core.loop import AgentRunner
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.tools import ToolBox
from curriculum.core.trace import to_json
from curriculum.grading.display_attacks import (
    HIDDEN,
    PLACES,
    SPOOFS,
    character,
    is_blank,
    request_of,
    twins,
)
from curriculum.grading.mistakes import collect, mistake, quote, raise_findings
from curriculum.tools.bash import Bash

__unittest = True

INVARIANTS = 's04, "Invariants"'
DISPLAY = 's04, "Exercises", D'

Render = Callable[[ApprovalRequest], str]


def grade_render(render: Render) -> None:
    """D. Put through the kit."""
    raise_findings("render", check_display(render))


def check_display(render: Render) -> list[str]:
    """Put a renderer through all checks. Returns what is wrong: nothing, if it conforms."""
    checks = _Checks(render)
    return collect(
        {
            "any display": checks.any_display,
            "visible": checks.visible,
            "one line": checks.one_line,
            "whole": checks.whole,
            "size": checks.size,
            "distinct": checks.distinct,
            "behind AgentRunner": checks.behind_runner,
        },
        DISPLAY,
    )


class _Checks:
    """One method a check."""

    def __init__(self, render: Render) -> None:
        self._render = render

    def _show(self, request: ApprovalRequest) -> str:
        text = self._render(request)
        if not isinstance(text, str):
            raise mistake("a text to show", quote(text), DISPLAY)
        return text

    def any_display(self) -> None:
        displays: list[Mapping[str, object]] = [
            {},
            {"command": ""},
            {"limit": 0, "ratio": 0.5, "live": True, "reason": None},
            {"environment": {}},
            {"environment": {"A": "x", "B": 1, "C": None}},
            {"command": "echo \ud83d"},
        ]
        for display in displays:
            before = to_json(display) if "\ud83d" not in str(display) else ""
            request = ApprovalRequest("approval-1", "call-1", "bash", display)
            first = self._show(request)
            if before and to_json(request.display) != before:
                saw = f"it is {quote(dict(display))} now"
                raise mistake("the request to be left as it is", saw, INVARIANTS)
            if (again := self._show(request)) != first:
                saw = f"{quote(first)}, then {quote(again)}"
                raise mistake("the same request to be shown the same", saw, DISPLAY)

    def visible(self) -> None:
        for code in HIDDEN:
            for place in PLACES:
                self._all_visible(request_of(place, f"a{chr(code)}b"), place)
        for text in SPOOFS.values():
            for place in PLACES:
                self._all_visible(request_of(place, text), place)

    def _all_visible(self, request: ApprovalRequest, place: str) -> None:
        for char in self._show(request):
            if char == "\n":
                continue
            if not char.isprintable() or is_blank(char):
                saw = f"{character(char)} in the {place} is still there"
                raise mistake("an escape that people can see for it", saw, INVARIANTS)

    def one_line(self) -> None:
        for place in PLACES:
            usual = self._show(request_of(place, "ab")).count("\n")
            for name, text in SPOOFS.items():
                shown = self._show(request_of(place, text))
                if shown.count("\n") != usual:
                    expected = f"{usual + 1} lines, also with {name} in the {place}"
                    raise mistake(expected, f"{shown.count(chr(10)) + 1} lines", INVARIANTS)
        names = [f"field{number}" for number in range(5)]
        texts = [self._show(_about(dict.fromkeys(names[:n], "x"))) for n in range(6)]
        lines = [text.count("\n") for text in texts]
        if any(after - before != 1 for before, after in itertools.pairwise(lines)):
            expected = "a line for each field of a display of 0, 1, 2, 3, 4, 5 fields"
            raise mistake(expected, f"{[n + 1 for n in lines]} lines", INVARIANTS)

    def whole(self) -> None:
        rng = random.Random(8)
        words = [rng.choice(["echo", "rm -f", "| wc -c", ";", "&& ls"]) for _ in range(2000)]
        plain = [
            "printf x | wc -c",
            "for f in *.py; do wc -l $f; done",
            "echo naïve 中文 🙂 שלום",
            " ".join(f"{word} {rng.randrange(100)}" for word in words),
        ]
        for text in plain:
            for place in PLACES:
                if text not in self._show(request_of(place, text)):
                    expected = f"in the {place} {text[:60]!r} to be shown as it is, and whole"
                    raise mistake(expected, self._near(request_of(place, text), text), INVARIANTS)

    def _near(self, request: ApprovalRequest, text: str) -> str:
        shown = self._show(request)
        size = next((n for n in range(len(text), 0, -1) if text[:n] in shown), 0)
        return f"only its first {size} of {len(text)} characters are shown"

    def size(self) -> None:
        for name, text in {**SPOOFS, "one long line": "echo " + "y" * 16_000}.items():
            lines, characters = text.count("\n") + 1, len(text)
            for place in ("command", "environment value"):
                request = request_of(place, text)
                if characters < 40:  # another text could be the longest one
                    continue
                last = self._show(request).removesuffix("\n").split("\n")[-1]
                if not (
                    re.search(rf"(?<!\d){lines} lines?\b", last)
                    and re.search(rf"(?<!\d){characters} characters?\b", last)
                ):
                    expected = f"'{lines} lines, {characters} characters' in the last line"
                    saw = f"for {name} in the {place} it is {quote(last, 120)}"
                    raise mistake(expected, saw, INVARIANTS)

    def distinct(self) -> None:
        for one, other, what in twins():
            if self._show(one) == self._show(other):
                saw = f"both are {quote(self._show(one))}"
                raise mistake(f"two requests to be told apart: {what}", saw, INVARIANTS)
        seen: dict[str, str] = {}
        for text in _little_texts():
            shown = self._show(request_of("command", text))
            if (other_text := seen.setdefault(shown, text)) != text:
                saw = f"both are {quote(shown)}"
                expected = f"the commands {other_text!r} and {text!r} to be told apart"
                raise mistake(expected, saw, INVARIANTS)

    def behind_runner(self) -> None:
        """Real calls of Bash in a directory that is named to deceive; every one is refused."""
        shown: list[str] = []

        def ask(request: ApprovalRequest) -> str:
            shown.append(self._show(request))
            return "n"

        with tempfile.TemporaryDirectory() as folder:
            directory = os.path.join(os.path.realpath(folder), "a\n\x1b]0;x\x07\u202eb")
            os.mkdir(directory)
            bash = Bash(directory, {"PATH": "/usr/bin:/bin", "PS1": "\x1b[2K\r$ "})
            commands = [text for text in SPOOFS.values() if text.strip()]
            calls = tuple(
                ToolCall(f"call-{n}", "bash", to_json({"command": text}))
                for n, text in enumerate(commands)
            )
            model = ScriptedModel([ModelTurn(tool_calls=calls), ModelTurn("done")])
            run = AgentRunner(model, ToolBox([bash]), approver=HumanApprover(ask)).run("go")
        if run.stop_reason != "completed":
            raise mistake("a run that goes on to its end", f"{run.error}", DISPLAY)
        for text, command in zip(shown, commands, strict=True):
            if bad := next((c for c in text if c != "\n" and not c.isprintable()), ""):
                saw = f"{character(bad)} is still there"
                raise mistake(f"the question about {command[:40]!r} to be visible", saw, INVARIANTS)
        lines = {text.count("\n") for text in shown}
        if len(lines) != 1:
            saw = f"between {min(lines) + 1} and {max(lines) + 1}"
            raise mistake("as many lines for every command", saw, INVARIANTS)


def _about(display: Mapping[str, object]) -> ApprovalRequest:
    return ApprovalRequest("approval-1", "call-1", "bash", display)


def _little_texts() -> Iterator[str]:
    """Every text of up to three of these: what one writes, another one's escape looks like."""
    parts = ["n", "\n", "\\", '"', "'", " ", "\r", "\x1b", "\\x1b", "\\u202e", "\u202e", "\u3164"]
    for size in range(4):
        for chosen in itertools.product(parts, repeat=size):
            text = "".join(chosen)
            if "".join(chosen).count("\\") < 3:
                yield text
