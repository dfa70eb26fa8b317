"""langgraph: a graph of two nodes, one that answers and its ToolNode, as its own agent has."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

VERSION = version("langgraph")


def make(turns: int) -> Callable[[], int]:
    left, calls = turns, 0

    @tool
    def echo() -> str:
        """Echo."""
        nonlocal calls
        calls += 1
        return "echoed"

    def answer(state: Any) -> dict[str, Any]:
        nonlocal left
        left -= 1
        if not left:
            return {"messages": [AIMessage("done")]}
        call = {"name": "echo", "args": {}, "id": f"call-{left}", "type": "tool_call"}
        return {"messages": [AIMessage("next", tool_calls=[call])]}

    graph = StateGraph(MessagesState)
    graph.add_node("agent", answer)
    graph.add_node("tools", ToolNode([echo]))
    graph.add_edge(START, "agent")
    graph.add_conditional_edges("agent", tools_condition)
    graph.add_edge("tools", "agent")
    app = graph.compile()

    def run() -> int:
        state = app.invoke({"messages": [("user", "go")]}, {"recursion_limit": 2 * turns + 5})
        assert state["messages"][-1].content == "done"
        return calls

    return run
