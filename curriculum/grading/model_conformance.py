"""A conformance kit for models: whatever implements `Model` can be put through it.

The kit speaks in neutral answers (`Answer`, `Failure`). A small harness, `ModelUnderTest`, says
them in the words of one provider, builds the model on top, and shows what the provider was then
sent. The same checks hold for an adapter, a streaming adapter and ScriptedModel.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Literal

from curriculum.core.errors import ContextOverflowError, ModelError, RunError
from curriculum.core.loop import AgentRunner
from curriculum.core.messages import Message, ModelTurn, ToolCall
from curriculum.core.tools import ToolBox
from curriculum.core.trace import to_json
from curriculum.grading.mistakes import collect, mistake, quote
from curriculum.grading.model_expectations import DEEP, LOOKS, ask, cannot_answer, raw_call
from curriculum.grading.model_under_test import Answer, Echo, Failure, ModelUnderTest, Sent

__unittest = True


def check_model(under_test: ModelUnderTest, seed: int = 0) -> list[str]:
    """Put a model through all checks that apply. Returns what is wrong: nothing, if it conforms."""
    kit = _Checks(under_test, random.Random(seed))
    checks = kit.all()
    unknown = under_test.lacks.keys() - checks.keys()
    if unknown:
        raise ValueError(f"lacks names no check of this kit: {sorted(unknown)}")
    if finding := cannot_answer(under_test):
        return [finding]
    findings = []
    for name, check in checks.items():
        if name not in under_test.lacks:
            kit.look = LOOKS[name]
            findings += collect({name: check}, kit.look)
    return findings


class _Checks:
    """One method a check. Texts, ids and arguments differ with the seed."""

    def __init__(self, under_test: ModelUnderTest, rng: random.Random) -> None:
        self._under_test = under_test
        self._rng = rng
        self.look = DEEP  # where the lesson explains the check that runs

    def all(self) -> dict[str, Callable[[], None]]:
        """The checks by name, in the order in which it helps to read them."""
        return {
            "text": self.text,
            "empty text": self.empty_text,
            "calls": self.calls,
            "conversation": self.conversation,
            "results are paired": self.results,
            "system prompt": self.system_prompt,
            "tools": self.tools,
            "private items": self.private_items,
            "transient failure": self.transient,
            "permanent failure": self.permanent,
            "overflow": self.overflow,
            "cut-off answer": self.cut_off,
            "unknown content": self.unknown_content,
            "input is left alone": self.input_left_alone,
            "no memory": self.no_memory,
            "only our types": self.only_our_types,
            "behind AgentRunner": self.behind_runner,
        }

    def _same(self, expected: object, saw: object, what: str) -> None:
        if expected != saw:
            raise mistake(f"{what}: {quote(expected)}", quote(saw), self.look)

    def _word(self, kind: str = "word") -> str:
        return f"{kind}-{self._rng.randrange(16**6):06x}"

    def _text(self) -> str:
        return f" {self._word()} \u00fc\u4e16\U0001f600\n\n{self._word()} "

    def _call(self) -> ToolCall:
        return raw_call(self._rng, self._word)

    def _ask(self, answer: Answer | Failure, *messages: Message) -> ModelTurn:
        return ask(self._under_test.build([answer]), messages or (Message("user", self._text()),))

    def _last_sent(self) -> Sent:
        sent = self._under_test.sent()
        if not sent:
            raise mistake("a request to the provider", "nothing was sent", self.look)
        return sent[-1]

    def text(self) -> None:
        for _ in range(3):
            text = self._text()
            turn = self._ask(Answer(text))
            what = "the text of the answer, character by character"
            self._same(text, turn.resolved_content, what)
            self._same((), turn.tool_calls, "no calls in an answer of text only")

    def empty_text(self) -> None:
        call = self._call()
        turn = self._ask(Answer(calls=(call,)))
        self._same("", turn.resolved_content, "empty text where the model only asks for a tool")
        self._same((call,), turn.tool_calls, "the one call")

    def calls(self) -> None:
        for count in (1, 2, 5):
            calls = tuple(self._call() for _ in range(count))
            turn = self._ask(Answer(self._text(), calls))
            self._same(
                [call.call_id for call in calls],
                [call.call_id for call in turn.tool_calls],
                "the provider's call ids, in its order",
            )
            for call, got in zip(calls, turn.tool_calls, strict=True):
                self._same(call.name, got.name, "the name of the call")
                what = "the arguments as raw text, exactly as the model wrote them"
                self._same(call.arguments, got.arguments, what)

    def conversation(self) -> None:
        said = [self._text() for _ in range(4)]
        messages = [
            Message("user", said[0]),
            Message("assistant", said[1]),
            Message("user", said[2]),
            Message("assistant", said[3]),
            Message("user", "and?"),
        ]
        self._ask(Answer("ok"), *messages)
        self._same(
            [(m.role, m.content) for m in messages],
            [(entry.role, entry.text) for entry in self._last_sent().entries],
            "the provider to get every message once, in order",
        )

    def results(self) -> None:
        calls = tuple(self._call() for _ in range(3))
        results = {call.call_id: f'{{"output":"{self._word()}"}}' for call in calls}
        results[calls[1].call_id] = ""
        messages = [
            Message("user", "go"),
            Message("assistant", self._text(), calls),
            *(Message("tool", text, call_id=call_id) for call_id, text in results.items()),
        ]
        self._ask(Answer("ok"), *messages)
        entries = self._last_sent().entries
        proposed = [entry.calls for entry in entries if entry.role == "assistant"]
        self._same([calls], proposed, "the assistant's calls to be in the request again")
        returned = [(entry.call_id, entry.text) for entry in entries if entry.role == "tool"]
        self._same(list(results.items()), returned, "each result to go back under its own call_id")

    def system_prompt(self) -> None:
        prompt = self._text()
        self._ask(Answer("ok"), Message("system", prompt), Message("user", "hi"))
        sent = self._last_sent()
        self._same(prompt, sent.system, "the system prompt where the provider looks for it")
        roles = [entry.role for entry in sent.entries]
        self._same(["user"], roles, "only the user's entry beside it")
        self._ask(Answer("ok"), Message("user", "hi"))
        self._same("", self._last_sent().system, "no system prompt where none was given")

    def tools(self) -> None:
        tools = [Echo(self._word("tool")).definition.descriptor() for _ in range(2)]
        ask(self._under_test.build([Answer("ok")]), [Message("user", "hi")], copy.deepcopy(tools))
        self._same(
            [(tool["name"], tool["description"], tool["parameters"]) for tool in tools],
            [(name, text, dict(schema)) for name, text, schema in self._last_sent().tools],
            "every tool with name, description and schema",
        )
        ask(self._under_test.build([Answer("ok")]), [Message("user", "hi")])
        self._same((), self._last_sent().tools, "no tools where none were offered")

    def private_items(self) -> None:
        private, call = self._word("sealed"), self._call()
        turn = self._ask(Answer(self._text(), (call,), private))
        what = "what is the provider's own to stay out of the text"
        self._same(False, private in turn.resolved_content, what)
        again = [
            Message("user", "go"),
            Message("assistant", turn.resolved_content, turn.tool_calls, opaque=turn.opaque),
            Message("tool", "{}", call_id=call.call_id),
        ]
        self._ask(Answer("ok"), *again)
        back = [entry.private for entry in self._last_sent().entries if entry.role == "assistant"]
        self._same([private], back, "the provider's own item back in the next request, unchanged")

    def transient(self) -> None:
        self._fails("transient", ModelError, True)

    def permanent(self) -> None:
        self._fails("permanent", ModelError, False)

    def overflow(self) -> None:
        self._fails("overflow", ContextOverflowError, False)

    def _fails(
        self,
        kind: Literal["transient", "permanent", "overflow"],
        error: type[RunError],
        retryable: bool,
    ) -> None:
        what = f"an {kind}" if kind == "overflow" else f"a {kind}"
        expected = f"{what} failure to be raised as {error.__name__}, retryable={retryable}"
        try:
            turn = self._ask(Failure(kind, self._word("fault")))
        except Exception as fault:
            saw = f"it raised {type(fault).__name__}: {fault}"
            if not isinstance(fault, error):
                raise mistake(expected, saw, self.look) from fault
            if fault.retryable != retryable:
                raise mistake(expected, f"{saw}, retryable={fault.retryable}", self.look) from fault
            return
        saw = f"the failure was swallowed and became the answer {quote(turn.resolved_content)}"
        raise mistake(expected, saw, self.look)

    def cut_off(self) -> None:
        expected = "an answer that the provider cut off to be refused: a ModelError, not retryable"
        for calls in ((), (self._call(),)):
            try:
                turn = self._ask(Answer(self._text(), calls, cut=True))
            except ModelError as fault:
                if fault.retryable:
                    raise mistake(expected, f"it is retryable: {fault}", self.look) from fault
                continue
            raise mistake(expected, f"half of it became {quote(turn.resolved_content)}", self.look)

    def unknown_content(self) -> None:
        text = self._text()
        try:
            turn = self._ask(Answer(text, unknown=True))
        except RunError:
            return
        what = "content of an unknown kind to be refused, or left out without a trace in the text"
        self._same(text, turn.resolved_content, what)

    def input_left_alone(self) -> None:
        calls = (self._call(),)
        messages = [
            Message("system", self._text()),
            Message("user", self._text()),
            Message("assistant", "", calls),
            Message("tool", "{}", call_id=calls[0].call_id),
        ]
        tools = [Echo("echo").definition.descriptor()]
        before = copy.deepcopy((messages, tools))
        ask(self._under_test.build([Answer("ok")]), messages, tools)
        if (messages, tools) != before:
            saw = f"{len(before[0])} messages became {quote(messages)}"
            if tools != before[1]:
                saw = f"the tools became {quote(tools)}"
            raise mistake("messages and tools that the model only reads", saw, self.look)

    def no_memory(self) -> None:
        model = self._under_test.build([Answer("one"), Answer("two"), Answer("two")])
        first, second = self._text(), self._text()
        ask(model, [Message("user", first)])
        turns = [ask(model, [Message("user", second)]) for _ in range(2)]
        for sent in self._under_test.sent()[1:]:
            what = "a request to hold the messages given and nothing of the request before"
            self._same([second], [entry.text for entry in sent.entries], what)
        self._same(turns[0], turns[1], "the same request and the same answer to make the same turn")

    def only_our_types(self) -> None:
        turn = self._ask(Answer(self._text(), (self._call(),), self._word("sealed")))
        texts = [turn.content, *turn.chunks]
        for call in turn.tool_calls:
            self._same(ToolCall, type(call), "calls of our own type")
            texts += [call.call_id, call.name, call.arguments]
        for text in texts:
            self._same(str, type(text), "plain text")
        self._same(tuple, type(turn.tool_calls), "the calls in a tuple")
        try:
            to_json(turn.opaque)
        except (TypeError, ValueError) as fault:
            expected = "opaque to be plain JSON data, so that a session can be written down"
            raise mistake(expected, f"{quote(turn.opaque)}: {fault}", self.look) from fault

    def behind_runner(self) -> None:
        word = self._word()
        call = ToolCall(self._word("id"), "echo", f'{{"text": "{word}"}}')
        model = self._under_test.build([Answer("", (call,), self._word("sealed")), Answer(word)])
        tools = ToolBox([Echo("echo")], granted=["echo"])
        result = AgentRunner(model, tools, system_prompt="be brief").run("go")
        if result.stop_reason != "completed":
            raise mistake("a run of two requests that completes", f"{result.error!r}", self.look)
        self._same(word, result.final_text, "the final text of the run")
        roles = [message.role for message in result.messages]
        wanted = ["system", "user", "assistant", "tool", "assistant"]
        self._same(wanted, roles, "the messages' roles")
