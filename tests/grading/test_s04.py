"""The graders of s04 are graded: the reference passes, and each wrong solution is told why."""

from __future__ import annotations

import fnmatch
import json
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence

import pytest

from curriculum.core.approval import ApprovalRequest, Approver, Decision
from curriculum.core.policy import PolicyApprover, Rule
from curriculum.core.trace import Event
from curriculum.core.visible import escape, quote
from curriculum.grading.batch_answers import (
    ANSWERS,
    NEVER,
    batches,
    grade_batch_answers,
    observe_batch,
    predict_batch,
)
from curriculum.grading.display_attacks import HIDDEN, SPOOFS, is_blank
from curriculum.grading.display_conformance import check_display, grade_render
from curriculum.grading.exact_commands import grade_exact_commands
from curriculum.grading.s04 import grade_decisions_of
from curriculum.lessons.s04_approvals import solutions


def test_the_reference_passes() -> None:
    grade_decisions_of(solutions.decisions_of)
    grade_exact_commands(solutions.ExactCommands)
    assert solutions.BATCH_ANSWERS is not None
    grade_batch_answers(solutions.BATCH_ANSWERS)
    grade_render(solutions.render)


def by_question(events: Sequence[Event]) -> dict[str, object]:
    """Pairs a decision with its question by approval_id, and gives lists."""
    asked: dict[object, str] = {}
    told: dict[str, object] = {}
    for event in events:
        if event.type == "approval.request":
            asked[event.payload["approval_id"]] = str(event.payload["call_id"])
            told[str(event.payload["call_id"])] = None
        if event.type == "approval.decision":
            who = " ".join([event.actor["kind"], event.actor["id"]])
            why = event.payload.get("rationale") or ""
            call_id = asked[event.payload["approval_id"]]
            told[call_id] = [who, event.payload["decision"], why]
    return told


class WithASet:
    """Looks commands up in a set, and denies through another approver."""

    def __init__(
        self, commands: Iterable[str], directory: str, otherwise: Approver | None = None
    ) -> None:
        self._listed = frozenset((command, directory) for command in commands)
        self._next = otherwise or PolicyApprover([], name="exact-commands")

    def decide(self, request: ApprovalRequest) -> Decision:
        wanted = request.display.get("command"), request.display.get("directory")
        are_texts = all(isinstance(text, str) for text in wanted)
        if request.tool == "bash" and are_texts and wanted in self._listed:
            return Decision("allow", "policy", "exact-commands", f"listed: {wanted[0]}")
        return self._next.decide(request)


def a_block(request: ApprovalRequest) -> str:
    """Python's own quotes, a line for each variable of the environment, sizes of everything."""

    def mark(text: str) -> str:
        plain = repr(text).replace("<", "<<")
        return "".join(f"<U+{ord(c):X}>" if is_blank(c) else c for c in plain)

    rows = [f"[Tool: {mark(request.tool)}]"]
    for name, field in request.display.items():
        if isinstance(field, Mapping):
            rows.append(f"  {mark(name)} ({len(field)})")
            rows += [
                f"    {mark(str(key))} = {mark(inner) if isinstance(inner, str) else inner}"
                for key, inner in field.items()
            ]
        else:
            rows.append(f"  {mark(name)} = {mark(field) if isinstance(field, str) else field}")
    return "\n".join([*rows, size_of(request), ""])


def test_other_right_solutions_pass() -> None:
    grade_decisions_of(by_question)  # type: ignore[arg-type]
    grade_exact_commands(WithASet)
    grade_render(a_block)


# A. decisions_of


def pick(events: Sequence[Event], type: str) -> list[Event]:
    return [event for event in events if event.type == type]


def only_decided(events: Sequence[Event]) -> object:
    return {i: told for i, told in solutions.decisions_of(events).items() if told}


def who_asked(events: Sequence[Event]) -> object:
    asked = {q.payload["call_id"]: q.actor for q in pick(events, "approval.request")}
    return {
        i: told and (f"{asked[i]['kind']} {asked[i]['id']}", *told[1:])
        for i, told in solutions.decisions_of(events).items()
    }


def from_results(events: Sequence[Event]) -> object:
    told = dict(solutions.decisions_of(events))
    for event in pick(events, "tool.result"):
        call_id = str(event.payload["call_id"])
        if call_id in told:
            denied = event.payload["status"] == "denied"
            told[call_id] = ("user", "deny" if denied else "allow", "")
    return told


def every_call(events: Sequence[Event]) -> object:
    calls = [str(event.payload["call_id"]) for event in pick(events, "tool.call")]
    return {**dict.fromkeys(calls), **solutions.decisions_of(events)}


def by_position(events: Sequence[Event]) -> object:
    calls = [event.payload["call_id"] for event in pick(events, "tool.call")]
    told = list(solutions.decisions_of(events).values())
    return dict(zip(calls, told, strict=False))


def needs_a_rationale(events: Sequence[Event]) -> object:
    return {
        event.payload["call_id"]: event.payload["rationale"]
        for event in pick(events, "approval.decision")
    }


def by_approval_id(events: Sequence[Event]) -> object:
    ids = {e.payload["call_id"]: e.payload["approval_id"] for e in pick(events, "approval.request")}
    return {ids[i]: told for i, told in solutions.decisions_of(events).items()}


def allowed_or_not(events: Sequence[Event]) -> object:
    told = solutions.decisions_of(events)
    return {i: t and (t[0], "allow" if t[1] == "allow" else "deny", t[2]) for i, t in told.items()}


def kind_only(events: Sequence[Event]) -> object:
    told = solutions.decisions_of(events)
    return {i: t and (t[0].split()[0], *t[1:]) for i, t in told.items()}


def started_is_allowed(events: Sequence[Event]) -> object:
    """Takes the granted call for an allowed one."""
    started = {str(e.payload["call_id"]): ("user", "allow", "") for e in pick(events, "tool.start")}
    return {**started, **solutions.decisions_of(events)}


WRONG_DECISIONS: dict[str, tuple[Callable[[Sequence[Event]], object], str]] = {
    "open questions left out": (only_decided, "does not know that call"),
    "the actor of the question": (who_asked, r"you say \('harness agent'"),
    "guessed from the results": (from_results, r"you say \('user', '(deny|allow)', ''\)"),
    "calls nobody was asked about": (every_call, "only calls that somebody was asked about"),
    "paired by position": (by_position, "does not know that call|you say"),
    "a decision without a rationale": (needs_a_rationale, "does not know that call|KeyError"),
    "by approval_id": (by_approval_id, "does not know that call"),
    "two words only": (allowed_or_not, "'(expired|cancelled)'.*\n.*'deny'"),
    "kind only": (kind_only, r"you say \('(user|policy)',"),
    "granted taken for allowed": (started_is_allowed, "only calls that somebody was asked about"),
    "hard-coded": (lambda events: {"call-1": ("user user", "allow", "")}, "you also have"),
    "a list": (lambda events: [], "a dict from call_id"),
}


@pytest.mark.parametrize("name", WRONG_DECISIONS)
def test_wrong_decisions_are_told_why(name: str) -> None:
    wrong, message = WRONG_DECISIONS[name]
    with pytest.raises(AssertionError, match=message):
        grade_decisions_of(wrong)  # type: ignore[arg-type]


# B. ExactCommands


class ByRules:
    """The PolicyApprover with a rule for each command: patterns, where texts were meant."""

    def __init__(
        self, commands: Iterable[str], directory: str, otherwise: Approver | None = None
    ) -> None:
        rules = [
            Rule("allow", "listed", "bash", (("command", command), ("directory", directory)))
            for command in commands
        ]
        self._policy = PolicyApprover(rules, otherwise, "exact-commands")

    def decide(self, request: ApprovalRequest) -> Decision:
        return self._policy.decide(request)


class Exact(solutions.ExactCommands):
    """Right, but for what a subclass does in `is_listed`."""

    def is_listed(self, command: str) -> bool:
        return command in self._commands

    def decide(self, request: ApprovalRequest) -> Decision:
        command = request.display.get("command")
        here = request.tool == "bash" and request.display.get("directory") == self._directory
        if here and isinstance(command, str) and self.is_listed(command):
            return Decision("allow", "policy", "exact-commands", "listed")
        return self._ask(request)

    def _ask(self, request: ApprovalRequest) -> Decision:
        if self._otherwise:
            return self._otherwise.decide(request)
        return Decision("deny", "policy", "exact-commands", "not listed")


class Strips(Exact):
    """A space more or less."""

    def is_listed(self, command: str) -> bool:
        return command.strip() in self._commands


class Prefixes(Exact):
    """Whatever begins like a listed command."""

    def is_listed(self, command: str) -> bool:
        return any(command.startswith(listed) for listed in self._commands)


class FirstLine(Exact):
    """Only looks at the first line."""

    def is_listed(self, command: str) -> bool:
        return command.split("\n")[0] in self._commands


class SameWords(Exact):
    """Compares what a shell would split it into, and comments vanish."""

    def is_listed(self, command: str) -> bool:
        try:
            words = shlex.split(command, comments=True)
        except ValueError:
            return False
        return words in [shlex.split(listed) for listed in self._commands]


class IgnoresCase(Exact):
    """Upper case is another command."""

    def is_listed(self, command: str) -> bool:
        return command.lower() in [listed.lower() for listed in self._commands]


class OneLongText(Exact):
    """A text holds more texts than its parts."""

    def is_listed(self, command: str) -> bool:
        return command in " ".join(self._commands)


class Globs(Exact):
    """Patterns beside the equal ones."""

    def is_listed(self, command: str) -> bool:
        return any(
            listed == command or fnmatch.fnmatchcase(command, listed) for listed in self._commands
        )


class FirstWord(Exact):
    """Trusts a program, whatever it is told to do."""

    def is_listed(self, command: str) -> bool:
        return command.split()[0] in [(listed.split() or [""])[0] for listed in self._commands]


class AnyTool(solutions.ExactCommands):
    """The command of another tool is another command."""

    def decide(self, request: ApprovalRequest) -> Decision:
        return super().decide(ApprovalRequest("a", "c", "bash", request.display))


class AnyDirectory(solutions.ExactCommands):
    """The same words do something else elsewhere."""

    def decide(self, request: ApprovalRequest) -> Decision:
        display = {**request.display, "directory": self._directory}
        request = ApprovalRequest(request.approval_id, request.call_id, request.tool, display)
        return super().decide(request)


class Indexes(Exact):
    """Every display has a command, doesn't it?"""

    def decide(self, request: ApprovalRequest) -> Decision:
        listed = request.display["command"] in self._commands
        if listed and request.tool == "bash" and request.display["directory"] == self._directory:
            return Decision("allow", "policy", "exact-commands", "listed")
        return self._ask(request)


class Texts(Exact):
    """Whatever it is, as text."""

    def decide(self, request: ApprovalRequest) -> Decision:
        display = {name: str(field) for name, field in request.display.items()}
        here = request.tool == "bash" and display.get("directory") == self._directory
        if here and display.get("command") in self._commands:
            return Decision("allow", "policy", "exact-commands", "listed")
        return self._ask(request)


class Sets(Exact):
    """A display may hold what has no hash."""

    def decide(self, request: ApprovalRequest) -> Decision:
        here = request.tool == "bash" and request.display.get("directory") == self._directory
        if here and request.display.get("command") in set(self._commands):
            return Decision("allow", "policy", "exact-commands", "listed")
        return self._ask(request)


class Remembers(Exact):
    """Asks only once about a command."""

    def __init__(
        self, commands: Iterable[str], directory: str, otherwise: Approver | None = None
    ) -> None:
        super().__init__(commands, directory, otherwise)
        self._said: dict[object, Decision] = {}

    def _ask(self, request: ApprovalRequest) -> Decision:
        command = str(request.display.get("command"))
        if command not in self._said:
            self._said[command] = super()._ask(request)
        return self._said[command]


class KeepsTheList(Exact):
    """What the caller adds later is listed too."""

    def __init__(
        self, commands: Iterable[str], directory: str, otherwise: Approver | None = None
    ) -> None:
        super().__init__((), directory, otherwise)
        self._commands = commands  # type: ignore[assignment]


class AsksTwice(Exact):
    """To be sure."""

    def _ask(self, request: ApprovalRequest) -> Decision:
        super()._ask(request)
        return super()._ask(request)


class SpeaksForThem(Exact):
    """A person's answer under the policy's name."""

    def _ask(self, request: ApprovalRequest) -> Decision:
        told = super()._ask(request)
        return Decision(told.decision, "policy", "exact-commands", told.rationale)


class TwoWords(Exact):
    """Whatever is no yes is a denial."""

    def _ask(self, request: ApprovalRequest) -> Decision:
        told = super()._ask(request)
        if told.decision == "allow":
            return told
        return Decision("deny", told.actor_kind, told.actor_id, told.rationale)


class CatchesAll(Exact):
    """Ctrl+C is no denial."""

    def _ask(self, request: ApprovalRequest) -> Decision:
        try:
            return super()._ask(request)
        except BaseException as fault:
            return Decision("deny", "policy", "exact-commands", str(fault))


class WithoutCause(Exact):
    """Denies without a word."""

    def _ask(self, request: ApprovalRequest) -> Decision:
        told = super()._ask(request)
        return Decision("deny", "policy", "exact-commands") if not self._otherwise else told


class NobodyThere(Exact):
    """Falls over its own default."""

    def _ask(self, request: ApprovalRequest) -> Decision:
        assert self._otherwise is not None
        return self._otherwise.decide(request)


class AllowsByDefault(Exact):
    """Nobody is there to say no."""

    def _ask(self, request: ApprovalRequest) -> Decision:
        if not self._otherwise:
            return Decision("allow", "policy", "exact-commands", "nobody minds")
        return super()._ask(request)


class AsksAlways(Exact):
    """Lists nothing."""

    def is_listed(self, command: str) -> bool:
        return False


class SaysTrue(Exact):
    """Not a Decision."""

    def decide(self, request: ApprovalRequest) -> Decision:
        return True  # type: ignore[return-value]


class HalfDone(Exact):
    """Half done."""

    def _ask(self, request: ApprovalRequest) -> Decision:
        raise NotImplementedError


WRONG_APPROVERS: dict[Callable[..., Approver], str] = {
    ByRules: r"to be asked about once: listed is|to run without a question",
    Strips: r"'ls ' to be asked about once: listed is \['ls', 'git status'\]",
    Prefixes: "to be asked about once: listed is",
    FirstLine: r"'ls\\n' to be asked about once",
    SameWords: r"'ls ' to be asked about once",
    IgnoresCase: "'LS' to be asked about once",
    OneLongText: "'ls ' to be asked about once",
    Globs: r"'ls \*.txt; echo more' to be asked|'ls a.txt; echo b.txt' to be asked about once",
    FirstWord: "'ls ' to be asked about once",
    AnyTool: "when it is for another tool: zsh in /",
    AnyDirectory: "when it is for another directory: bash in /usr",
    Indexes: "KeyError: 'command'",
    Texts: r"the display {'command': None, 'directory': '/'} to be asked about",
    Sets: r"TypeError: .*unhashable",
    Remembers: "the same unlisted command to be asked about each time: yes, no, yes",
    KeepsTheList: "'ls' to be listed for good",
    AsksTwice: "to be asked about once: listed is.*\n.*it was asked about 2 times",
    SpeaksForThem: "the answer was Decision.*'policy'.*'exact-commands'",
    TwoWords: "the answer Decision.*'expired'.* to be passed on as it is",
    CatchesAll: "ConnectionError in otherwise to end the run as 'failed'",
    WithoutCause: "a denial by the policy exact-commands, with its cause",
    NobodyThere: "AssertionError",
    AllowsByDefault: "without an otherwise: 'ls' to run, 'make' to be denied",
    AsksAlways: "to run without a question: they are listed",
    SaysTrue: "the approver answered True",
    HalfDone: "NotImplementedError",
}


@pytest.mark.parametrize("wrong", WRONG_APPROVERS)
def test_wrong_approvers_are_told_why(wrong: Callable[..., Approver]) -> None:
    with pytest.raises(AssertionError, match=WRONG_APPROVERS[wrong]):
        grade_exact_commands(wrong)


# C. BATCH_ANSWERS


def changed(answer: str, column: str, prediction: object) -> dict[str, dict[str, object]]:
    assert solutions.BATCH_ANSWERS is not None
    table = {name: dict(row) for name, row in solutions.BATCH_ANSWERS.items()}
    assert table[answer][column] != prediction
    table[answer][column] = prediction
    return table


TABLE = {name: dict(row) for name, row in (solutions.BATCH_ANSWERS or {}).items()}
WRONG_ANSWERS: dict[str, tuple[object, str]] = {
    "a denial ends the run": (
        changed("n", "stop", "failed"),
        "'n': you predict stop 'failed', the trace shows None",
    ),
    "no line is a cancel": (
        changed("end of input", "decision", "cancelled"),
        "'end of input': you predict decision 'cancelled', the trace shows 'deny'",
    ),
    "nobody is a user": (
        changed("end of input", "by", "user"),
        "'end of input': you predict by 'user', the trace shows 'policy'",
    ),
    "Ctrl+C is a no": (
        changed("Ctrl+C", "status", "denied"),
        r"'Ctrl\+C': you predict status 'denied', the trace shows 'not_executed'",
    ),
    "Ctrl+C concerns one call": (
        changed("Ctrl+C", "stop", None),
        r"'Ctrl\+C': you predict stop None, the trace shows 'cancelled'",
    ),
    "too late is not executed": (
        changed("too late", "status", "not_executed"),
        "'too late': you predict status 'not_executed', the trace shows 'denied'",
    ),
    "too late ends the run": (
        changed("too late", "stop", "cancelled"),
        "'too late': you predict stop 'cancelled', the trace shows None",
    ),
    "the unknown word is on record": (
        changed("maybe", "decision", "maybe"),
        "'maybe': you predict decision 'maybe', the trace shows 'cancelled'",
    ),
    "the model is on record": (
        changed("the model says allow", "by", "model"),
        "you predict by 'model', the trace shows 'policy'",
    ),
    "the model may allow": (
        changed("the model says allow", "starts", True),
        "you predict starts True, the trace shows False",
    ),
    "a crash leaves no decision": (
        changed("the approver crashes", "decision", None),
        "you predict decision None, the trace shows 'cancelled'",
    ),
    "granted is a decision": (
        changed("not asked: granted", "by", "policy"),
        "you predict by 'policy', the trace shows None",
    ),
    "an unknown tool ends the run": (
        changed("not asked: no such tool", "stop", "failed"),
        "you predict stop 'failed', the trace shows None",
    ),
    "the rest is denied": (
        changed(NEVER, "status", "denied"),
        r"'never reached': you predict status 'denied', .* \(call 2 of \['Ctrl\+C', ",
    ),
    "the rest is asked about": (
        changed(NEVER, "decision", "cancelled"),
        "'never reached': you predict decision 'cancelled', the trace shows None",
    ),
    "a row left out": ({"y": {}}, "no row for 'n', "),
    "a row left out, others wrong": (
        {name: {**row, "starts": True} for name, row in TABLE.items() if name != "maybe"},
        "no row for 'maybe'(.|\n)*'n': you predict starts True, the trace shows False",
    ),
    "a column left out": ({a: {} for a in (*ANSWERS, NEVER)}, "the columns decision, by"),
}


@pytest.mark.parametrize("name", WRONG_ANSWERS)
def test_wrong_answers_are_told_why(name: str) -> None:
    wrong, message = WRONG_ANSWERS[name]
    with pytest.raises(AssertionError, match=message):
        grade_batch_answers(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", [*ANSWERS, NEVER])
@pytest.mark.parametrize("column", ["decision", "by", "status", "starts", "stop"])
def test_every_cell_of_the_table_is_looked_at(name: str, column: str) -> None:
    with pytest.raises(AssertionError, match=f"'{re.escape(name)}': you predict {column} 7,"):
        grade_batch_answers(changed(name, column, 7))


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_decision_says_nothing_about_the_calls_before_it(answer: str) -> None:
    alone = observe_batch([answer])
    assert observe_batch(["n", "y", answer, "y"])[:3] == [
        *observe_batch(["n"]),
        *observe_batch(["y"]),
        *alone,
    ]


def test_batches_are_short_first_and_hold_every_pair() -> None:
    import random

    sizes = [len(batch) for batch in batches(random.Random(0))]
    assert sizes == sorted(sizes)
    assert sizes.count(2) == len(ANSWERS) ** 2
    assert solutions.BATCH_ANSWERS is not None
    rows = predict_batch(solutions.BATCH_ANSWERS, ["y", "Ctrl+C", "y"])
    assert [name for name, _ in rows] == ["y", "Ctrl+C", NEVER]


# D. render

Fields = Callable[[object], str]


def lines_of(request: ApprovalRequest, show: Fields, name: Fields = str) -> str:
    """A renderer that shows fields with `show`, and says the right size."""
    lines = [f"tool: {show(request.tool)}"]
    for key, field in request.display.items():
        if isinstance(field, Mapping):
            inner = [f"{show(str(k))}: {show(v)}" for k, v in field.items()]
            lines.append(f"{name(key)}: {{{', '.join(inner)}}}")
        else:
            lines.append(f"{name(key)}: {show(field)}")
    return "\n".join([*lines, size_of(request)])


def size_of(request: ApprovalRequest) -> str:
    return solutions.render(request).split("\n")[-1]


def text_or(show: Callable[[str], str]) -> Fields:
    return lambda field: show(field) if isinstance(field, str) else repr(field)


SEEN = text_or(quote)
LABEL: Fields = text_or(solutions.label)


def test_the_renderer_of_these_tests_passes_when_it_is_right() -> None:
    assert check_display(lambda request: lines_of(request, SEEN, LABEL)) == []


def drop_hidden(text: str) -> str:
    kept = [c for c in text if c.isprintable() and not is_blank(c)]
    return f'"{"".join(kept)}"'


def strip_sequences(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text).replace("\n", "\\n")


def no_backslashes_escaped(text: str) -> str:
    return quote(text).replace("\\\\", "\\").replace('\\"', '"')


def cut(most: int) -> Callable[[str], str]:
    return lambda text: quote(text if len(text) <= most else text[:most] + "...")


def middle_left_out(text: str) -> str:
    return quote(text if len(text) < 2000 else f"{text[:900]} ... {text[-900:]}")


def only_the_command(request: ApprovalRequest) -> str:
    command = request.display.get("command", "")
    return f"run {SEEN(command)}?\n{size_of(request)}"


def environment_raw(request: ApprovalRequest) -> str:
    shown = solutions.render(request).split("\n")
    names = list(request.display)
    if "environment" in names:
        shown[1 + names.index("environment")] = f"environment: {request.display['environment']}"
    return "\n".join(shown)


def without_size(request: ApprovalRequest) -> str:
    return "\n".join(solutions.render(request).split("\n")[:-1])


def size_first(request: ApprovalRequest) -> str:
    *lines, size = solutions.render(request).split("\n")
    return "\n".join([size, *lines])


def recount(count: Callable[[str], tuple[int, int]]) -> Callable[[ApprovalRequest], str]:
    def render(request: ApprovalRequest) -> str:
        texts = [request.tool, *(t for _, t in solutions.texts_of(request.display))]
        lines, characters = count(max(texts, key=len))
        return f"{without_size(request)}\n{lines} lines, {characters} characters"

    return render


def changes_the_display(request: ApprovalRequest) -> str:
    text = solutions.render(request)
    if isinstance(request.display, dict) and "command" in request.display:
        request.display["command"] = "shown"
    return text


def counter() -> Callable[[ApprovalRequest], str]:
    asked: list[ApprovalRequest] = []

    def render(request: ApprovalRequest) -> str:
        asked.append(request)
        return f"question {len(asked)}\n{solutions.render(request)}"

    return render


def block(request: ApprovalRequest) -> str:
    """A command of several lines in a block of its own, with a gutter."""
    command = str(request.display.get("command", "")).split("\n")
    rows = "\n".join("  | " + quote(row) for row in command)
    return f"{rows}\n{solutions.render(request)}"


def colours(request: ApprovalRequest) -> str:
    return f"\x1b[1m{solutions.render(request)}\x1b[0m"


def first_use(request: ApprovalRequest) -> str:
    return "\n".join(f"{k}: {v.encode()!r}" for k, v in request.display.items())  # type: ignore[attr-defined]


def printable(text: str) -> str:
    return "".join([c if c.isprintable() and c not in '\\"' else f"\\U{ord(c):08x}" for c in text])


Render = Callable[[ApprovalRequest], str]
WRONG_RENDERS: dict[str, tuple[Render, str]] = {
    "raw": (lambda r: lines_of(r, str), r"U\+0000 in the tool is still there"),
    "repr": (lambda r: f"{r.tool!r} {dict(r.display)!r}\n{size_of(r)}", r"U\+034F.*is still there"),
    "what Python calls printable": (
        lambda r: lines_of(r, text_or(printable), text_or(printable)),
        r"visible:\n.*\n.*COMBINING GRAPHEME JOINER.* in the tool is still there",
    ),
    "the core's escape": (lambda r: lines_of(r, text_or(escape)), "one line:"),
    "JSON in ASCII": (
        lambda r: f"{json.dumps([r.tool, r.display])}\n{size_of(r)}",
        "whole:\n.*'echo naïve",
    ),
    "JSON": (
        lambda r: f"{json.dumps([r.tool, r.display], ensure_ascii=False)}\n{size_of(r)}",
        "visible:\n.*\n.*U\\+007F",
    ),
    "escaped for Python": (
        lambda r: lines_of(r, text_or(lambda t: t.encode("unicode_escape").decode())),
        "whole:\n.*'echo naïve",
    ),
    "hidden characters dropped": (
        lambda r: lines_of(r, text_or(drop_hidden), text_or(drop_hidden)),
        "distinct:\n.*a line feed, and a backslash|distinct:\n.*U\\+3164, and nothing",
    ),
    "sequences stripped": (lambda r: lines_of(r, text_or(strip_sequences)), "visible:"),
    "backslashes as they are": (
        lambda r: lines_of(r, text_or(no_backslashes_escaped), LABEL),
        r"distinct:\n.*a line feed, and a backslash with an n in the",
    ),
    "without quotes": (
        lambda r: lines_of(r, text_or(lambda t: quote(t)[1:-1]), LABEL),
        "distinct:\n.*(None|True|1|{})",
    ),
    "all values as texts": (
        lambda r: lines_of(r, lambda field: quote(str(field)), LABEL),
        "distinct:\n.*None and 'None'",
    ),
    "names as they are": (lambda r: lines_of(r, SEEN), "in the name of a field is still there"),
    "the command only": (only_the_command, "one line:|whole:\n.*in the tool"),
    "the environment raw": (environment_raw, "U\\+034F.* in the environment name is still there"),
    "cut at 80": (
        lambda r: lines_of(r, text_or(cut(80)), LABEL),
        "whole:\n.*\n.*only its first 80 of 16",
    ),
    "the middle left out": (
        lambda r: lines_of(r, text_or(middle_left_out), LABEL),
        "one in the middle of 5001",
    ),
    "no size": (without_size, "size:\n.*in the last line"),
    "the size at the top": (size_first, "size:\n.*in the last line"),
    "line feeds for lines": (recount(lambda t: (t.count("\n"), len(t))), "size:\n"),
    "bytes for characters": (
        recount(lambda t: (t.count("\n") + 1, len(t.encode("utf-8", "replace")))),
        "size:\n",
    ),
    "lines of Python": (recount(lambda t: (len(t.splitlines()), len(t))), "size:\n"),
    "the display changed": (changes_the_display, "the request to be left as it is"),
    "numbered": (counter(), "the same request to be shown the same"),
    "a block for the command": (block, "one line:\n.*200 line feeds"),
    "colours": (colours, r"visible:\n.*\n.*U\+001B"),
    "fails on numbers": (first_use, "AttributeError: 'int' object has no attribute 'encode'"),
    "no text": (lambda r: None, "a text to show"),  # type: ignore[return-value,dict-item]
    "empty": (lambda r: "", "one line:\n"),
}


@pytest.mark.parametrize("name", WRONG_RENDERS)
def test_wrong_renders_are_told_why(name: str) -> None:
    wrong, message = WRONG_RENDERS[name]
    with pytest.raises(AssertionError, match=message):
        grade_render(wrong)


def test_the_kit_attacks_with_every_bidirectional_mark_and_every_control() -> None:
    bidi = {0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
    assert len(bidi) == 12
    assert bidi | set(range(0x20)) - {0x0A} | set(range(0x7F, 0xA0)) <= set(HIDDEN)
    assert "\n" in SPOOFS["200 line feeds before the end"]
