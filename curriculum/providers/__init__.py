"""Adapters to real models, and a scripted endpoint that plays one. Imports core only; needs httpx.

    from curriculum.core.seams import CancelToken
    from curriculum.providers.endpoint import Endpoint
    from curriculum.providers.responses import ResponsesModel

    endpoint = Endpoint("https://api.openai.com/v1", api_key)     # ValueError: one line, no key
    model = ResponsesModel(endpoint, "gpt-5", cancel=token)       # opens nothing yet
    AgentRunner(model, ..., cancel=token)                         # the same token: reads stop too

`Endpoint(base_url, api_key, connect_seconds=10, silence_seconds=300, max_wait_seconds=60)` checks
and keeps where to connect. `api_key=None` sends no key (local servers); a key that is empty, of
two lines or not ASCII is refused. `repr()` does not show the key. `check_key(text)` and
`check_url(text)` are the checks alone: they return the clean text or raise ValueError.

`ResponsesModel(endpoint, model, omit=(), max_output_tokens=None, cancel=None)` has `stream` (pieces
of text, then the ModelTurn) and `respond`. `omit` names request fields that the server does not
take, of `responses.OPTIONAL`. The same for their protocols: `ChatCompletionsModel`, with the same
arguments, in `chat_completions`, `AnthropicModel(endpoint, model, max_tokens=..., cancel=None)` in
`anthropic_messages`. Importing an adapter does not import httpx; the first request does, and
without it says what to install. What a model says has the exact key masked (`key_mask`).

Errors (`curriculum.core.errors`): TransientModelError, RateLimitError, AuthenticationError,
ContextOverflowError, ModelError (permanent), ProtocolError, CancelledError. Each ModelError has
`retryable` and `retry_after_seconds` (float or None; at most `max_wait_seconds` when retryable). An
adapter does not wait or retry, with one exception: reasoning that the provider can no longer
read is left out and the request sent once more, which is yielded as `Retry`.

`ScriptedEndpoint(scenario)` in `scripted_endpoint` is a real server on loopback that plays a
scenario: a dict, a path, or the name of a packaged one (`load_scenario`, `scenario_names`).

    with ScriptedEndpoint("tool-call") as server:
        model = ResponsesModel(Endpoint(server.url, "test-key"), "scripted")
    server.requests   # what came: .method .path .headers .body (bytes) .json()
    server.open("x")  # let the answer go on that waits at {"gate": "x"}

`python -m curriculum.providers.scripted_endpoint SCENARIO [--port 0]` prints its URL and serves.
A scenario is {"exchanges": [...]}; each exchange answers one request, in order; see `scenario`.
"""
