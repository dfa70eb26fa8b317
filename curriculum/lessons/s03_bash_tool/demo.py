"""s03 demo: the model asks for a Bash command, the harness runs it, the model reads the result."""

from __future__ import annotations

from curriculum.core.loop import AgentRunner
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.tools import ToolBox
from curriculum.core.trace import Recorder
from curriculum.lessons.show import show
from curriculum.tools.bash import Bash

PROMPT = "How many words are in 'to be or not to be'?"
COMMAND = '{"command":"echo to be or not to be | wc -w"}'


# region: main
def main() -> AgentRunner:
    """Run the demo and return its runner.

    The command is fixed in the script above, so whoever assembles this harness can grant it; s04
    takes the grant away and asks. The directory and the environment are spelled out, so the trace
    has the same bytes on every machine.
    """
    model = ScriptedModel(
        [
            ModelTurn("I will count them.", tool_calls=(ToolCall("call-1", "bash", COMMAND),)),
            ModelTurn("There are 6 words.", stop=True),
        ]
    )
    bash = Bash(directory="/", environment={"PATH": "/usr/bin:/bin", "LC_ALL": "C"})
    tools = ToolBox([bash], granted=["bash"])
    runner = AgentRunner(model, tools, recorder=Recorder.golden())
    show(runner.run(PROMPT))
    return runner


# endregion

if __name__ == "__main__":
    main()
