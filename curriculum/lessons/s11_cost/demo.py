"""s11 demo: turns and money are set aside and settled, until the next step would cost too much."""

from __future__ import annotations

from curriculum.core.budget import AllOf, Limit
from curriculum.core.loop import AgentRunner
from curriculum.core.messages import ModelTurn, ToolCall, Usage
from curriculum.core.meters import Money, Prices, Turns
from curriculum.core.model import ScriptedModel
from curriculum.core.tools import ToolBox
from curriculum.core.trace import Recorder, to_json
from curriculum.core.values import replace
from curriculum.lessons.show import show
from curriculum.tools.bash import Bash

PROMPT = "How many words has 'to be or not to be', and how many has its answer?"

# 3 and 15 dollars per million tokens: made up, as data, in micro-dollars.
PRICES = Prices(input_per_million=3_000_000, output_per_million=15_000_000)


def counts(call_id: str, text: str, usage: Usage) -> ModelTurn:
    """An answer that asks for the words of a text, and what the provider says it took."""
    command = to_json({"command": f"echo {text} | wc -w"})
    return ModelTurn(tool_calls=(ToolCall(call_id, "bash", command),), usage=usage)


# region: main
def main() -> AgentRunner:
    """Run the demo and return its runner. The limit on money is two cents."""
    model = ScriptedModel(
        [
            counts("call-1", "to be or not to be", Usage(310, 90)),
            counts("call-2", "that is the question", Usage(420, 600)),
            ModelTurn("Six, and four.", usage=Usage(560, 12)),
        ]
    )
    recorder = Recorder.golden()
    budget = AllOf(
        [
            Limit(Turns(), 5),
            Limit(Money(PRICES, output_limit=600, framing=250), 20_000),
        ],
        recorder,
    )
    bash = Bash(directory="/", environment={"PATH": "/usr/bin:/bin", "LC_ALL": "C"})
    runner = AgentRunner(model, ToolBox([bash], ["bash"]), budget=budget, recorder=recorder)
    result = runner.run(PROMPT)
    show(replace(result, final_text=f"No answer: {result.error}."))
    return runner


# endregion

if __name__ == "__main__":
    main()
