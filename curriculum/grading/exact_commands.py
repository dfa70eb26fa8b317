"""Grader of s04 B: an approver of exact commands, tried behind real runs with a dry bash."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from curriculum.core.approval import ApprovalRequest, Approver, Decision
from curriculum.core.loop import AgentRunner, RunResult
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.tools import ToolBox
from curriculum.core.trace import to_json
from curriculum.grading.approval_under_test import DryBash, Named, Script
from curriculum.grading.mistakes import attempt, mistake, place, quote

__unittest = True

STEPS = 's04, "Step by step"'
INVARIANTS = 's04, "Invariants"'

Make = Callable[..., Approver]
NO = Decision("deny", "user", "tester", "not this one")
YES = Decision("allow", "user", "tester")


def grade_exact_commands(exact_commands: Make) -> None:
    """B. What is listed runs without a question; whatever is not exactly that is asked about."""
    with attempt("ExactCommands", STEPS):
        long = f"echo {'a' * 5000}"  # what differs from it does so where nobody compares lightly
        short = ["ls", "git status"], ["ls *.txt", "[ -e a ]"], ["caf\u00e9 'a b'"], [""]
        for listed in (*short, [long]):
            _check_listed(exact_commands, listed)
            _check_near_misses(exact_commands, listed)
        _check_strange_displays(exact_commands)
        _check_passes_on(exact_commands)
        _check_remembers_nothing(exact_commands)
        _check_alone(exact_commands)


def _try(approver: Approver, commands: Sequence[str], tool: str = "bash", at: str = "/") -> Tried:
    """Run the commands for real, but for bash itself, as one batch of calls of `tool`."""
    bash = DryBash(at)
    calls = [
        ToolCall(f"call-{n}", tool, to_json({"command": command}))
        for n, command in enumerate(commands)
    ]
    model = ScriptedModel([ModelTurn(tool_calls=tuple(calls)), ModelTurn("done")])
    box = ToolBox([Named(tool, bash)])
    return Tried(AgentRunner(model, box, approver=approver).run("go"), bash.ran)


class Tried:
    """A run, and the commands that ran in it."""

    def __init__(self, run: RunResult, ran: Sequence[str]) -> None:
        self.ran = ran
        self.decisions = [event for event in run.events if event.type == "approval.decision"]
        self.statuses = [e.payload["status"] for e in run.events if e.type == "tool.result"]
        self.stop, self.error = run.stop_reason, run.error

    def complete(self) -> Tried:
        """Itself; raises what is wrong if the run broke."""
        if self.stop != "completed":
            at = place(self.error) if self.error else ""
            saw = f"the run stopped as {self.stop!r}: {self.error}{at}"
            raise mistake("a run that goes on to its end", saw, STEPS)
        return self


def _check_listed(make: Make, listed: list[str]) -> None:
    commands = [command for command in listed if command]  # Bash itself refuses an empty one
    person = Script([NO] * len(commands))
    tried = _try(make(listed, "/", person), commands).complete()
    if tried.ran != commands or person.requests:
        saw = f"of these ran {quote(list(tried.ran))}; passed on: {len(person.requests)}"
        raise mistake(f"{quote(commands)} to run without a question: they are listed", saw, STEPS)
    for event in tried.decisions:
        if event.actor != {"kind": "policy", "id": "exact-commands"}:
            expected = "a decision by the policy exact-commands"
            raise mistake(expected, f"the trace shows {dict(event.actor)}", STEPS)
        if not event.payload.get("rationale"):
            raise mistake("a rationale, also for a yes", "the decision has none", STEPS)


def _check_near_misses(make: Make, listed: list[str]) -> None:
    one = listed[0] or "ls"
    near = [
        f"{one} ",
        f" {one}",
        f"{one}\n",
        f"{one}; echo more",
        f"{one}\necho more",
        f"{one} # ok",
        one.upper(),
        one[:-1],
        f"{one}\u200b",
        "ls a.txt; echo b.txt",  # what the pattern `ls *.txt` matches as well
        "ls a.txt",
        "[ -e b ]",
        "cafe\u0301 'a b'",
        "caf\u00e9 a b",
    ]
    for command in near:
        if not command.strip() or command in listed:
            continue
        person = Script([NO])
        tried = _try(make(listed, "/", person), [command]).complete()
        if tried.ran or len(person.requests) != 1:
            asked = "ran" if tried.ran else f"was asked about {len(person.requests)} times"
            expected = f"{_ends(command)} to be asked about once: listed is {quote(listed)}"
            raise mistake(expected, f"it {asked}", INVARIANTS)
    for tool, at, why in (
        ("zsh", "/", "another tool"),
        ("bash", "/usr", "another directory"),
        ("bash", "/usr/..", "the directory, spelt in another way"),
    ):
        person = Script([NO])
        tried = _try(make([one], "/", person), [one], tool, at).complete()
        if tried.ran or len(person.requests) != 1:
            expected = f"{_ends(one)} to be asked about when it is for {why}: {tool} in {at}"
            raise mistake(expected, "it was decided without a question", INVARIANTS)


def _ends(command: str) -> str:
    """The command, or of a long one its size and both ends."""
    if len(command) <= 200:
        return repr(command)
    return f"a command of {len(command)} characters, {command[:20]!r} ... {command[-20:]!r},"


def _check_strange_displays(make: Make) -> None:
    displays: list[dict[str, object]] = [
        {},
        {"directory": "/"},
        {"command": "ls"},
        {"command": None, "directory": "/"},
        {"command": 5, "directory": "/"},
        {"command": ["ls"], "directory": "/"},
        {"command": {"ls": "ls"}, "directory": "/"},
        {"command": "ls", "directory": None},
        {"command": "", "directory": "/"},
    ]
    for display in displays:
        person = Script([NO])
        decision = make(["ls", "None", "5"], "/", person).decide(
            ApprovalRequest("approval-1", "call-1", "bash", display)
        )
        if decision != NO or len(person.requests) != 1:
            expected = f"the display {display} to be asked about"
            raise mistake(expected, f"the answer was {quote(decision)}", INVARIANTS)


def _check_passes_on(make: Make) -> None:
    answers = [
        NO,
        YES,
        Decision("expired", "policy", "clock", "no answer in time"),
        Decision("cancelled", "user", "tester"),
    ]
    request = ApprovalRequest("approval-7", "call-7", "bash", {"command": "make", "directory": "/"})
    for answer in answers:
        person = Script([answer])
        decision = make(["ls"], "/", person).decide(request)
        if decision != answer:
            saw = f"it became {quote(decision)}"
            raise mistake(f"the answer {quote(answer)} to be passed on as it is", saw, STEPS)
        if person.requests != [request]:
            saw = quote(person.requests)
            raise mistake(f"otherwise to be asked once, about {quote(request)}", saw, STEPS)
    for fault, stop in ((ConnectionError("gone"), "failed"), (KeyboardInterrupt(), "cancelled")):
        tried = _try(make(["ls"], "/", Script([fault])), ["make"])
        if tried.stop != stop or tried.statuses != ["not_executed"] or tried.ran:
            expected = f"{type(fault).__name__} in otherwise to end the run as {stop!r}"
            saw = f"it stopped as {tried.stop!r}, with the result {tried.statuses}"
            raise mistake(expected, saw, STEPS)


def _check_remembers_nothing(make: Make) -> None:
    person = Script([YES, NO, YES])
    approver = make(["ls"], "/", person)
    ran = [*_try(approver, ["make", "make"]).complete().ran, *_try(approver, ["make"]).ran]
    if len(person.requests) != 3 or ran != ["make", "make"]:
        expected = "the same unlisted command to be asked about each time: yes, no, yes"
        saw = f"{len(person.requests)} questions, and it ran {len(ran)} times"
        raise mistake(expected, saw, INVARIANTS)
    request = ApprovalRequest("approval-7", "call-7", "bash", {"command": "make", "directory": "/"})
    person = Script([YES, NO])
    approver = make(["ls"], "/", person)
    answers = [approver.decide(request), approver.decide(request)]
    if answers != [YES, NO] or len(person.requests) != 2:
        expected = "the very same request to be asked about again: nothing is remembered"
        saw = f"{len(person.requests)} questions, answered by {quote(answers)}"
        raise mistake(expected, saw, INVARIANTS)
    mine = ["ls"]
    for commands, whose in ((mine, "the caller's list"), (iter(["ls"]), "an iterator")):
        person = Script([NO] * 4)
        approver = make(commands, "/", person)
        mine.append("make")
        ran = [*_try(approver, ["ls", "make", "ls"]).complete().ran]
        if ran != ["ls", "ls"]:
            expected = f"'ls' to be listed for good, and nothing else: it was given as {whose}"
            raise mistake(expected, f"of 'ls', 'make', 'ls' it let run {ran}", INVARIANTS)


def _check_alone(make: Make) -> None:
    for listed in (["ls"], []):
        _check_denial(_try(make(listed, "/"), ["make"]).complete())
    tried = _try(make(["ls"], "/"), ["ls", "make"]).complete()
    if tried.ran != ["ls"] or tried.statuses != ["completed", "denied"]:
        expected = "without an otherwise: 'ls' to run, 'make' to be denied"
        raise mistake(expected, f"{list(tried.ran)} ran, results {tried.statuses}", STEPS)
    _check_denial(tried)


def _check_denial(tried: Tried) -> None:
    no = tried.decisions[-1]
    if no.actor != {"kind": "policy", "id": "exact-commands"} or not no.payload.get("rationale"):
        expected = "a denial by the policy exact-commands, with its cause"
        raise mistake(expected, f"{dict(no.actor)}, {dict(no.payload)}", STEPS)
