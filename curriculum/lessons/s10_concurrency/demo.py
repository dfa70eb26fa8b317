"""s10 demo: three reads at once, then two edits that a person allows, and a read that sees them."""

from __future__ import annotations

import tempfile
from pathlib import Path

from curriculum.core.approval import HumanApprover
from curriculum.core.loop import AgentRunner
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel
from curriculum.core.parallel import ParallelReads
from curriculum.core.seams import CancelToken
from curriculum.core.tools import ToolBox
from curriculum.core.trace import Recorder, to_json
from curriculum.lessons.show import show
from curriculum.tools.edit_file import EditFile
from curriculum.tools.read_file import ReadFile

PROMPT = "Release version 1.3: say so wherever the version stands."
FILES = {
    "VERSION": "1.2\n",
    "README": "Install it with: get thing==1.2\n",
    "CHANGES": "1.2 is faster.\n1.1 is smaller.\n",
}


def read(call_id: str, path: str) -> ToolCall:
    """A proposal to read a file."""
    return ToolCall(call_id, "read_file", to_json({"path": path}))


def edit(call_id: str, path: str, old: str, new: str) -> ToolCall:
    """A proposal to replace `old` by `new`."""
    return ToolCall(call_id, "edit_file", to_json({"path": path, "old": old, "new": new}))


# region: main
def main() -> AgentRunner:
    """Run the demo in a folder of its own and return its runner.

    Reads are granted. Each edit is asked about; the person is a script here. The folder has
    another path every time, so it is shown under a name of its own.
    """
    model = ScriptedModel(
        [
            ModelTurn(
                "I will look at all three files.",
                tool_calls=(
                    read("call-1", "VERSION"),
                    read("call-2", "README"),
                    read("call-3", "CHANGES"),
                ),
            ),
            ModelTurn(
                "Two of them have to change.",
                tool_calls=(
                    edit("call-4", "VERSION", "1.2", "1.3"),
                    edit("call-5", "README", "thing==1.2", "thing==1.3"),
                    read("call-6", "VERSION"),
                    read("call-7", "README"),
                ),
            ),
            ModelTurn("VERSION and README say 1.3 now.", stop=True),
        ]
    )
    cancel = CancelToken()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            Path(folder, name).write_text(text)
        box = ToolBox(
            [
                ReadFile(folder, shown_as="the demo's folder"),
                EditFile(folder, shown_as="the demo's folder"),
            ],
            granted=["read_file"],
        )
        runner = AgentRunner(
            model,
            box,
            approver=HumanApprover(lambda request: "y"),
            cancel=cancel,
            scheduler=ParallelReads(cancel),
            recorder=Recorder.golden(),
        )
        show(runner.run(PROMPT))
    return runner


# endregion

if __name__ == "__main__":
    main()
