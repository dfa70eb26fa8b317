from curriculum.core.loop import AgentConfig, AgentRunner
from curriculum.core.messages import ModelTurn, ToolCall
from curriculum.core.model import ScriptedModel


def test_max_turns_ends_in_error_then_stop() -> None:
    model = ScriptedModel([ModelTurn(tool_calls=(ToolCall("c1", "fiction"),))])
    result = AgentRunner(model, config=AgentConfig(max_turns=1)).run("go")
    assert result.stop_reason == "max-turns"
    assert [event.type for event in result.events[-2:]] == ["error", "session.stop"]
