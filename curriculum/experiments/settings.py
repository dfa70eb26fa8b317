"""What an experiment may set: every knob with its default, its bounds and what it means.

A setting that is not in this table does not exist, so a misspelt one is refused before anything
runs. Names are `section.field`; a file writes them as tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

ONE_LINE = "text on one line, nothing unseen in it"
Value = bool | int | str
Settings = Mapping[str, Value]


class ExperimentError(Exception):
    """An experiment that cannot be run; one line that says where and what to do."""

    def __init__(self, message: str, exit_code: int = 65) -> None:
        super().__init__(message)
        self.exit_code = exit_code


@dataclass(frozen=True)
class Setting:
    """One knob. A number lies within `least` and `most`; a text is one of `choices`, if any."""

    default: Value
    about: str
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = 10**9


# region: settings
SETTINGS: Mapping[str, Setting] = {
    "model.kind": Setting("scripted", "what answers", ("scripted", "recorded", "live")),
    "model.turns": Setting(1, "inputs of the user", least=1, most=1000),
    "model.steps": Setting(4, "answers with calls before the last one, in each turn", most=10_000),
    "model.calls": Setting(1, "calls in each of those answers", least=1, most=256),
    "model.pieces": Setting(4, "pieces that an answer is streamed in", least=1, most=1000),
    "model.answer_ms": Setting(0, "time that an answer takes"),
    "model.window": Setting(0, "tokens that the provider takes at most; 0: any number"),
    "model.repeats": Setting(False, "whether a failed call is asked for once more"),
    "model.cassette": Setting("", "recorded: the file to play, seen from the experiment's file"),
    "model.base_url": Setting("", "live: where the provider is"),
    "model.api": Setting("responses", "live: its protocol", ("responses", "chat")),
    "model.name": Setting("scripted", "live: the model to ask for"),
    "model.key_env": Setting("", "live: the variable that holds the key; empty: send none"),
    "tool.output": Setting(200, "characters that a call gives back", most=1_000_000),
    "tool.read_ms": Setting(0, "time that a read takes"),
    "tool.write_ms": Setting(0, "time that a write takes"),
    "tool.spread": Setting(0, "percent that times vary by, both ways", most=100),
    "tool.write_every": Setting(0, "every so-manieth call is a write; 0: all are reads"),
    "limits.max_turns": Setting(1000, "model requests a turn", least=1),
    "limits.max_tool_calls": Setting(10_000, "calls a turn"),
    "approval.policy": Setting(
        "granted",
        "which calls are allowed, and whether it is asked",
        ("granted", "all", "reads", "none"),
    ),
    "approval.answer_ms": Setting(0, "time that each decision takes, unless all is granted"),
    "retry.attempts": Setting(1, "attempts for one answer; 1: no retry", least=1, most=100),
    "retry.base_ms": Setting(500, "the longest first wait"),
    "retry.cap_ms": Setting(20_000, "the longest wait"),
    "context.policy": Setting(
        "keep", "what is left out", ("keep", "truncate", "drop", "summarise", "all")
    ),
    "context.limit": Setting(2000, "tokens a request may have", least=1),
    "scheduler.kind": Setting("in-order", "what may overlap", ("in-order", "parallel")),
    "scheduler.threads": Setting(4, "parallel: reads at a time", least=1, most=64),
    "budget.turns": Setting(0, "model requests of the session; 0: no such budget"),
    "budget.calls": Setting(0, "calls of the session; 0: no such budget"),
    "budget.tokens": Setting(0, "tokens of the session; 0: no such budget"),
    "budget.money": Setting(0, "micro-dollars, at 3 and 15 dollars a million; 0: none"),
    "budget.seconds": Setting(0, "seconds of the session; 0: no such budget"),
    "fault.drop_percent": Setting(0, "attempts whose stream is dropped", most=100),
    "fault.drop_at": Setting(0, "pieces shown before that; -1: any number of them", least=-1),
    "fault.busy_percent": Setting(0, "attempts that the provider refuses as busy", most=100),
    "fault.every_call": Setting(0, "every so-manieth call fails; 0: none"),
    "fault.disk_at": Setting(0, "the disk is lost at this record; 0: never"),
    "fault.crash": Setting(False, "a crash at a random step, then the session is resumed"),
    "fault.loss": Setting("kept", "bytes not synced before a crash", ("kept", "vanish")),
    "journal.kind": Setting("memory", "where records go", ("memory", "session")),
    "journal.sync": Setting(True, "whether a record is synced before the next step"),
    "journal.rule": Setting(
        "with-evidence", "what is replayed", ("completed-only", "with-evidence")
    ),
    "clock.kind": Setting("virtual", "whether time is waited for", ("virtual", "real")),
    "clock.event_us": Setting(1000, "virtual: time that one event takes"),
}
# endregion


def check_setting(name: str, value: object, where: str) -> Value:
    """The value, if the setting can have it. Raises ExperimentError."""
    known = SETTINGS.get(name)
    if known is None:
        section = name.partition(".")[0]
        near = [other for other in SETTINGS if other.startswith(f"{section}.")]
        told = ", ".join(near or sorted({other.partition(".")[0] for other in SETTINGS}))
        raise ExperimentError(f"{where}: there is no setting {name!r}; there are {told}")
    if isinstance(known.default, bool):
        if isinstance(value, bool):
            return value
        raise ExperimentError(f"{where}: {name} must be true or false, not {value!r}")
    if isinstance(known.default, int):
        if isinstance(value, int) and not isinstance(value, bool):
            if known.least <= value <= known.most:
                return value
            raise ExperimentError(
                f"{where}: {name} must be from {known.least} to {known.most}, not {value}"
            )
        raise ExperimentError(f"{where}: {name} must be a whole number, not {value!r}")
    is_text = isinstance(value, str) and value.isprintable()  # it is shown, and drawn
    if isinstance(value, str) and is_text and (not known.choices or value in known.choices):
        return value
    told = f"one of {', '.join(known.choices)}" if known.choices else ONE_LINE
    raise ExperimentError(f"{where}: {name} must be {told}, not {value!r}")


def complete(given: Settings) -> dict[str, Value]:
    """All settings: what is given, the defaults for the rest."""
    return {name: given.get(name, setting.default) for name, setting in SETTINGS.items()}


def number(settings: Settings, name: str) -> int:
    """A setting that is a number."""
    return int(settings[name])


def text(settings: Settings, name: str) -> str:
    """A setting that is a text."""
    return str(settings[name])


def longest_seconds(settings: Settings) -> int:
    """How long a run may take at most by its settings: what is waited for, and what is done."""

    def of(name: str) -> int:
        return number(settings, name)

    answers = min(of("model.steps") + 1, of("limits.max_turns"))
    calls = min(answers * of("model.calls"), of("limits.max_tool_calls"))
    attempts, waits = answers * of("retry.attempts"), answers * (of("retry.attempts") - 1)
    a_call_ms = of("approval.answer_ms") + 2 * max(of("tool.read_ms"), of("tool.write_ms"))
    spent_ms = attempts * of("model.answer_ms") + waits * of("retry.cap_ms") + calls * a_call_ms
    events = attempts * (of("model.pieces") + 4) + calls * 8
    return of("model.turns") * (spent_ms * 1000 + events * of("clock.event_us")) // 1_000_000
