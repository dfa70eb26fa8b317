"""s09 demo: outputs are cut, old turns are summarised, and a refused request is made shorter."""

from __future__ import annotations

from curriculum.core.context import ContextWindow, DropTurns, TruncateOutput
from curriculum.core.errors import ContextOverflowError
from curriculum.core.loop import AgentRunner
from curriculum.core.messages import Message, ModelTurn, ToolCall, Usage
from curriculum.core.model import ScriptedModel
from curriculum.core.summary import Summarise
from curriculum.core.tokens import MeasuredModel, TokenCounter
from curriculum.core.tools import ToolBox
from curriculum.core.trace import Recorder, to_json
from curriculum.lessons.show import show
from curriculum.tools.bash import Bash

PROMPT = "When did the nightly job stop, and in which of its two logs does it say why?"
HISTORY = (
    Message("user", "The nightly job writes two logs, first.log and second.log. Remember that."),
    Message("assistant", "The nightly job writes first.log and second.log."),
    Message("user", "It runs at two o'clock, and it should take about an hour. " * 4),
    Message("assistant", "So it should have ended by three o'clock."),
)
FIRST = "seq -f 'first.log, minute %g: all is well' 1 57"
SECOND = "seq -f 'second.log, minute %g: working' 1 41; echo 'minute 42: disk full, stopping'"


def bash_call(call_id: str, command: str) -> ToolCall:
    """A proposal to run `command`."""
    return ToolCall(call_id, "bash", to_json({"command": command}))


# region: window
def window(counter: TokenCounter) -> ContextWindow:
    """At most 700 tokens a request: first cut outputs, then summarise, then drop whole turns.

    The model that summarises is another one than the agent's; here it is a script, too.
    """
    writer = ScriptedModel([ModelTurn("A nightly job, from two to three, writes two logs.")])
    return ContextWindow(
        700,
        counter,
        [TruncateOutput(head=120, tail=120), Summarise(writer, keep=1), DropTurns()],
    )


# endregion


# region: main
def main() -> AgentRunner:
    """Run the demo and return its runner.

    The provider counts more tokens than were estimated, and says so; that corrects the next
    estimate. The third request it refuses as too long all the same: it is answered by one of half
    the size.
    """
    model = ScriptedModel(
        [
            ModelTurn("", (bash_call("call-1", FIRST),), usage=Usage(290, 20)),
            ModelTurn("", (bash_call("call-2", SECOND),), usage=Usage(440, 20)),
            ContextOverflowError("the request is too long for this model"),
            ModelTurn("At 2:42; second.log says why: the disk was full.", stop=True),
        ]
    )
    bash = Bash(directory="/", environment={"PATH": "/usr/bin:/bin", "LC_ALL": "C"})
    tools = ToolBox([bash], granted=["bash"])
    counter = TokenCounter(tools.descriptors())
    runner = AgentRunner(
        MeasuredModel(model, counter),
        tools,
        system_prompt="Answer from what the tools show.",
        history=HISTORY,
        context=window(counter),
        recorder=Recorder.golden(),
    )
    show(runner.run(PROMPT))
    return runner


# endregion

if __name__ == "__main__":
    main()
