"""s01 demo: one request, one answer, one recorded stop. No network, no key, nothing written."""

from __future__ import annotations

from curriculum.core.loop import AgentConfig, AgentRunner
from curriculum.core.messages import ModelTurn
from curriculum.core.model import ScriptedModel
from curriculum.core.trace import Recorder
from curriculum.lessons.show import show

PROMPT = "What turns a model into an agent?"


# region: main
def main() -> AgentRunner:
    """Run the demo and return its runner, so that `runner.model.requests` can be looked at."""
    model = ScriptedModel(
        [ModelTurn(content="A loop that asks the model again until no work is left.", stop=True)]
    )
    runner = AgentRunner(model, config=AgentConfig(max_turns=3), recorder=Recorder.golden())
    show(runner.run(PROMPT))
    return runner


# endregion

if __name__ == "__main__":
    main()
