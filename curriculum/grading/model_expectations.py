"""What the model conformance kit expects of one answer, and where the lesson explains it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from curriculum.core.messages import Message, ModelTurn, ToolCall
from curriculum.core.model import Model, StreamingModel, stream_turn
from curriculum.grading.mistakes import attempt, mistake, quote
from curriculum.grading.model_under_test import Answer, ModelUnderTest

__unittest = True

WORDS = 's01, "Step by step", step 1'
FIRST = 's01, "Step by step", step 2'
LOOP = 's01, "Step by step", step 3'
FAULTS = 's01, "Step by step", step 4'
INVARIANTS = 's01, "Invariants"'
DEEP = 's01, "Exercises", D'
LOOKS = {
    "text": WORDS,
    "empty text": WORDS,
    "calls": WORDS,
    "conversation": FIRST,
    "results are paired": LOOP,
    "system prompt": FIRST,
    "tools": LOOP,
    "private items": WORDS,
    "transient failure": FAULTS,
    "permanent failure": FAULTS,
    "overflow": FAULTS,
    "cut-off answer": DEEP,
    "unknown content": DEEP,
    "input is left alone": INVARIANTS,
    "no memory": INVARIANTS,
    "only our types": WORDS,
    "behind AgentRunner": LOOP,
}


def ask(
    model: Model | StreamingModel,
    messages: Sequence[Message],
    tools: Sequence[dict[str, object]] = (),
) -> ModelTurn:
    """The complete answer of a model; the pieces that it showed must add up to its text."""
    shown: list[str] = []
    for item in stream_turn(model, messages, tools):
        if isinstance(item, ModelTurn):
            if shown and "".join(shown) != item.resolved_content:
                saw = f"{quote(''.join(shown))} was shown, the turn says {item.resolved_content!r}"
                raise mistake("pieces that add up to the text of the turn", saw, DEEP)
            return item
        if isinstance(item, str):
            shown.append(item)
        elif type(item).__module__ != "curriculum.core.model":
            break
    raise mistake("a ModelTurn in the end", f"the last thing was {quote(item)}", WORDS)


def raw_call(rng: random.Random, word: Callable[[str], str]) -> ToolCall:
    """Arguments as a model writes them: spacing and key order are its own; not always JSON."""
    key, val = word("z"), word("v")
    raw = rng.choice(
        [f'{{"{key}":  "{val}", "a":1}}', f'{{"{key}": "{val}"', f'{{"a":1.0,"a":"{val}"}}']
    )
    return ToolCall(word("id"), rng.choice(["look", "write"]), raw)


def cannot_answer(under_test: ModelUnderTest) -> str:
    """Said once, and not by each of the checks: what was built is no model."""
    try:
        with attempt("the adapter", DEEP):
            model = under_test.build([Answer("hi")])
        if not any(callable(getattr(model, name, None)) for name in ("respond", "stream")):
            expected = "an object with the method `respond(messages, tools)`"
            raise mistake(expected, f"{quote(model)} has none", WORDS)
    except AssertionError as fault:
        return f"a model:{fault}"
    return ""
