"""s02 demo: the answer arrives in pieces, is shown in pieces, and is one message in the end."""

from __future__ import annotations

from curriculum.core.loop import AgentRunner
from curriculum.core.messages import ModelTurn
from curriculum.core.model import ScriptedModel
from curriculum.core.trace import Recorder
from curriculum.lessons.show import show

PROMPT = "Why does the text arrive in pieces?"


# region: main
def main() -> AgentRunner:
    """Run the demo and return its runner."""
    pieces = ("Pieces are for ", "the reader; ", "the message ", "is for the model.")
    model = ScriptedModel([ModelTurn(chunks=pieces, stop=True)])
    runner = AgentRunner(model, recorder=Recorder.golden())
    show(runner.run(PROMPT))
    return runner


# endregion

if __name__ == "__main__":
    main()
