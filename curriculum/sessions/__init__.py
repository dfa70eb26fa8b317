"""Durable sessions: every step on disk before the next one, and what a restart makes of them.

One session is one file, `<home>/sessions/<session_id>.jsonl`: one record a line, in the shape of
`schemas/session-0.1`. Nothing here runs a tool or asks a model. What others use:

    from curriculum.sessions.store import SessionStore
    from curriculum.sessions.observe import show_acknowledgement, show_recovery

    store = SessionStore.create(home, "session-1", about={"model": "m"}, clock=clock)
    store = SessionStore.open(home, "session-1", rule="completed-only", clock=clock)

`home` is a path, by convention `~/.mino`; an empty id makes a random one. Both hold the kernel's
lock until `close()` (a store is a context manager) or the end of the process. `open` checks every
record, sets a torn tail aside, and closes what was interrupted, on disk. The store is a Journal:

    runner = AgentRunner(model, tools, history=store.replay.messages, journal=store)
    runner.start(store.session_id, resumed_from=store.session_id)
    show_recovery(runner.recorder, store)             # event session.recover, if there is news
    for outcome in store.unacknowledged:              # rule "with-evidence": ask the user of each
        store.acknowledge(outcome, by="user")
        show_acknowledgement(runner.recorder, outcome, by="user")  # event outcome.acknowledge
    runner.turn("...")

`store.session_id`, `.path`, `.rule`
    Texts.
`store.append(record) -> int`
    The record's position (0 is the header). JournalError: not kept, memory must not move, and
    the store refuses every further record.
`store.recovery`
    What opening did: `.turn_id` of the turn it closed as interrupted ("" if none),
    `.not_executed` and `.unknown` (call ids), `.torn_bytes`, `.torn_path` ("" if none).
`store.replay`
    What opening found: `.messages` for `history=`, `.notice` to print ("" if none), `.turns`
    (replayed) and `.left_out` (kept, but not replayed).
`store.unacknowledged`
    Outcomes nobody knows, now: each with `.turn_id`, `.call`, `.display`. Under the rule
    "with-evidence" no new user input is taken while there is one.

Replay rules: `completed-only` leaves out every turn that did not complete, with a notice if the
last one was interrupted in a tool step. `with-evidence` also replays the turns that asked for
tools and were interrupted, failed or cancelled, each call with its result.

Errors (`curriculum.sessions.errors`): SessionError and, below it, SessionIdError (usage),
SessionBusyError, SessionNotFoundError, SessionExistsError, SessionDamagedError (with `.line`).
Each message is one line to print. `append` and `acknowledge` raise the core's JournalError.

Other modules: `ids` (check_session_id, known_ids, resolve_prefix), `listing` (list_sessions,
SessionFile: the records of one session, without the lock), `export` (export_trace), `text` (shown:
escapes what a terminal would obey). Command line:
`python -m curriculum.sessions list|show|export|resume-id`.
"""
