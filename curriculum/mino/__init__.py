"""`mino`, a terminal agent: the parts of the earlier lessons, assembled. It adds no machinery.

    mino                      a chat in this directory (`python -m curriculum.mino` is the same)
    mino --demo               the same with a scripted model: no key, no network
    mino --resume [ID]        go on with a session
    mino run "PROMPT"         one turn for scripts
    mino sessions             what is there to go on with
    mino doctor               what would be used, without the key

The pieces, each in its module: `options` and `config` (where settings come from), `limits` and
`spending` (what may be taken and was), `instructions` (what the model is told first), `assembly`
(model, tools, session, loop), `model` (which protocol), `context` (what a request shows), `chat`
and `run` (the two ways to hold a turn), `screen`, `view` and `question` (what a person sees),
`terminal` and `signals` (what a person does), `trace_file` and `secrecy` (what leaves the process,
and what must not).
"""
