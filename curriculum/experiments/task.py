"""The task of a run: a scripted model that asks for calls, and the tools that answer them.

Everything follows from the seed: what is said, what a call gives back, how long it takes and
whether it fails. Inputs and outputs hold facts (`fact-7=53817`), so it can be seen what of all
that was told a request still shows. An answer counts only once it was read to its end: a dropped
stream is asked for again and gives the same answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from random import Random

from curriculum.core.errors import ContextOverflowError
from curriculum.core.messages import Message, ModelTurn, ToolCall, Usage
from curriculum.core.tokens import TokenCounter, estimate_tokens
from curriculum.core.tools import Prepared, RunningCall, ToolDefinition, ToolResult
from curriculum.experiments.settings import Settings, number

SAID = (
    "the build reads a list of parts and writes one report for each of them while the last one "
    "is kept until somebody has looked at it and said what is to be done next"
)
PARAMETERS = {
    "type": "object",
    "properties": {"item": {"type": "integer"}},
    "required": ["item"],
    "additionalProperties": False,
}
Pass = Callable[[int], None]


class Facts:
    """What was told in this run, and how much of it a request shows."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self.told: dict[str, str] = {}

    def tell(self, name: str) -> str:
        """A fact of that name; always the same for one seed."""
        fact = f"fact-{name}={Random(f'{self._seed}/{name}').randrange(10_000, 100_000)}"
        self.told[name] = fact
        return fact

    def share(self, view: Sequence[Message]) -> float:
        """The share of all facts told that stand in the messages; 1 if none was told."""
        text = "\n".join(message.content for message in view)
        return sum(fact in text for fact in self.told.values()) / max(1, len(self.told))


def text_with(fact: str, length: int, random: Random) -> str:
    """About `length` characters of words with the fact somewhere among them."""
    vocabulary = SAID.split()
    words = [random.choice(vocabulary) for _ in range(max(0, length - len(fact)) // 5)]
    words.insert(random.randrange(len(words) + 1), fact)
    return " ".join(words)


# region: model
class TaskModel:
    """Asks for `steps` rounds of calls in each turn, then answers. Takes and reports tokens."""

    def __init__(self, settings: Settings, facts: Facts, pass_us: Pass) -> None:
        self._settings, self._facts, self._pass = settings, facts, pass_us
        self._step = self._calls = 0
        self._counter = TokenCounter()
        self.view: Sequence[Message] = ()
        self.requests = 0

    def start_turn(self, turn: int) -> str:
        """Begin the next turn of the task; returns what the user says."""
        self._step = 0
        fact = self._facts.tell(f"input-{turn}")
        return f"Turn {turn}: look at the next parts. Mind that {fact}."

    def stream(
        self, messages: Sequence[Message], tools: Sequence[dict[str, object]]
    ) -> Iterator[str | ModelTurn]:
        self.requests += 1
        size, window = self._counter.tokens(messages), number(self._settings, "model.window")
        if window and size > window:
            raise ContextOverflowError(f"the request has {size} tokens; {window} are possible")
        self.view = messages
        again = self._failed(messages) if self._settings["model.repeats"] else 0
        turn = self._answer(again)
        pieces = split(turn.content, number(self._settings, "model.pieces"))
        for piece in pieces:
            self._pass(number(self._settings, "model.answer_ms") * 1000 // len(pieces))
            yield piece
        self._step += not again  # from here on the answer counts
        self._calls += len(turn.tool_calls)
        written = turn.content + "".join(call.arguments for call in turn.tool_calls)
        usage = Usage(size, estimate_tokens(written))
        yield ModelTurn(turn.content, turn.tool_calls, stop=turn.stop, usage=usage)

    def _answer(self, again: int) -> ModelTurn:
        calls = again or number(self._settings, "model.calls")
        if not again and self._step >= number(self._settings, "model.steps"):
            return ModelTurn(
                f"All {self._calls} parts are looked at; the report is done.", stop=True
            )
        every = number(self._settings, "tool.write_every")
        proposed = []
        for item in range(self._calls + 1, self._calls + calls + 1):
            name = "change" if every and item % every == 0 else "look"
            proposed.append(ToolCall(f"call-{item}", name, f'{{"item":{item}}}'))
        said = (
            "I try those once more." if again else f"Step {self._step + 1}: I take the next parts."
        )
        return ModelTurn(said, tuple(proposed))

    def _failed(self, messages: Sequence[Message]) -> int:
        """How many of the latest results are failures."""
        count = 0
        for message in reversed(messages):
            if message.role != "tool":
                break
            count += '"status":"failed"' in message.content
        return count


# endregion


def split(text: str, pieces: int) -> list[str]:
    """The text in at most so many pieces of about the same length."""
    size = max(1, -(-len(text) // pieces))
    return [text[at : at + size] for at in range(0, len(text), size)]


# region: tool
class TaskTool:
    """Looks at a part, or changes one: takes its time, then gives back text with a fact in it.

    Duration and failure follow from the number of the part, so threads cannot change them.
    `acted` is told of each effect, before it and after it.
    """

    def __init__(
        self,
        name: str,
        settings: Settings,
        seed: int,
        facts: Facts,
        pass_us: Pass,
        acted: Callable[[str], None] = lambda call_id: None,
    ) -> None:
        self._name, self._settings, self._seed = name, settings, seed
        self._facts, self._pass, self._acted = facts, pass_us, acted

    @property
    def definition(self) -> ToolDefinition:
        is_read = self._name == "look"
        about = "Look at a part." if is_read else "Change a part."
        return ToolDefinition(self._name, about, PARAMETERS, parallel_safe=is_read)

    def prepare(self, arguments: str) -> Prepared:
        item = json.loads(arguments)["item"]  # the script's own arguments: nobody else calls
        return Prepared({"item": item}, item)

    def execute(self, prepared: Prepared, call: RunningCall) -> ToolResult:
        item = int(str(prepared.action))
        random = Random(f"{self._seed}/call-{item}")
        most = number(self._settings, "tool.spread")
        percent = 100 + random.randint(-most, most)
        field = "tool.read_ms" if self._name == "look" else "tool.write_ms"
        self._pass(number(self._settings, field) * 10 * percent)
        every = number(self._settings, "fault.every_call")
        if every and item % every == 0:
            return ToolResult("failed", f"part {item} is not to be had")
        if self._name == "change":
            self._acted(call.call_id)
        fact = self._facts.tell(f"part-{item}")
        return ToolResult(
            "completed", text_with(fact, number(self._settings, "tool.output"), random)
        )


# endregion


class SummaryModel:
    """Summarises by listing the facts that it reads, as many as fit into 400 characters."""

    def __init__(self) -> None:
        self.requests = self.input_tokens = self.output_tokens = 0
        self._counter = TokenCounter()

    def respond(self, messages: Sequence[Message], tools: Sequence[dict[str, object]]) -> ModelTurn:
        words = messages[-1].content.replace("\\n", " ").replace('"', " ").split()
        facts = dict.fromkeys(word.strip(".") for word in words if word.startswith("fact-"))
        text = " ".join(facts)[:400].rpartition(" ")[0] or " ".join(facts)[:400]
        self.requests += 1
        self.input_tokens += self._counter.tokens(messages)
        self.output_tokens += estimate_tokens(text)
        return ModelTurn(text or "Nothing was said.", stop=True)
