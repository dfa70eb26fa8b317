"""An answer can be bounded; a server that refuses the bound is named the field to leave out."""

from __future__ import annotations

import pytest

from curriculum.core.errors import ModelError
from curriculum.core.messages import Message
from curriculum.providers.chat_completions import ChatCompletionsModel
from curriculum.providers.endpoint import Endpoint
from curriculum.providers.responses import ResponsesModel
from tests.providers.conftest import Serve

GO = [Message("user", "go")]
ADAPTERS = [
    (ResponsesModel, "max_output_tokens"),
    (ChatCompletionsModel, "max_completion_tokens"),
]
Adapter = type[ResponsesModel] | type[ChatCompletionsModel]


@pytest.mark.parametrize(("adapter", "field"), ADAPTERS)
def test_a_bound_is_sent_in_the_words_of_the_protocol(
    serve: Serve, adapter: Adapter, field: str
) -> None:
    server = serve(*[{"answer": {"text": "ok"}}] * 3)
    where = Endpoint(server.url, "test-key")
    adapter(where, "m").respond(GO, ())
    adapter(where, "m", max_output_tokens=500).respond(GO, ())
    adapter(where, "m", max_output_tokens=500, omit=[field]).respond(GO, ())
    plain, bounded, omitted = [request.json() for request in server.requests]
    assert field not in plain
    assert bounded == {**plain, field: 500}
    assert omitted == plain


@pytest.mark.parametrize(("adapter", "field"), ADAPTERS)
def test_a_server_that_does_not_take_the_bound_is_told_apart(
    serve: Serve, adapter: Adapter, field: str
) -> None:
    body = f'{{"error": {{"message": "Unsupported parameter: {field}", "param": "{field}"}}}}'
    server = serve({"status": 400, "send": [{"raw": body}]})
    with pytest.raises(ModelError, match=f"does not take '{field}', omit it"):
        adapter(Endpoint(server.url, "test-key"), "m", max_output_tokens=500).respond(GO, ())
