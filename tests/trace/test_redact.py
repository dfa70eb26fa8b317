"""Redaction with canaries: nothing of them is left, and what comes out is still a right trace."""

from __future__ import annotations

import copy
import io
import itertools
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curriculum.trace.__main__ import main
from curriculum.trace.codes import Verdict
from curriculum.trace.engines import make_engine
from curriculum.trace.redact import POLICY, Redactor, to_line
from curriculum.trace.secret_rules import SecretRules
from curriculum.trace.validate import Options, validate
from tests.golden import GOLDEN
from tests.trace.commands import run
from tests.trace.runs import PLANS, Plan, perform
from tests.trace.story import (
    Event,
    calls,
    delta,
    event,
    numbered,
    place,
    response,
    to_bytes,
)

# Made up for this test; none was ever a key of anything.
CANARY = 'canary-7f3a9c/"quoted"-é-51'
SHAPES = {
    "api-key": "sk-proj-" + "Ab3dE6gH" * 4,
    "github": "ghp_" + "a1B2c3D4e5" * 4,
    "aws": "AKIA" + "ABCDEFGH01234567",
    "google": "AIza" + "Sy0123456789abcdefghijklmnopqrstuvwxy"[:35],
    "slack": "xoxb-123456789012-abcdef",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    "private-key": "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----",
}
FAST = make_engine()


def redacted(events: Iterable[Event], *known: str) -> bytes:
    redactor = Redactor(SecretRules(known))
    lines = [
        to_line(held.event) for one in copy.deepcopy(list(events)) for held in redactor.take(one)
    ]
    lines += [to_line(held.event) for held in redactor.finish()]
    return "".join(lines).encode()


def verdict(data: bytes, *secrets: str) -> tuple[Verdict, dict[str, int]]:
    report = validate(io.BytesIO(data).read, FAST, Options(secrets=secrets))
    return report.verdict, report.codes


def loaded(data: bytes) -> list[Event]:
    return [json.loads(line) for line in data.splitlines()]


def find(text: str, *known: str, key: str = "") -> list[str]:
    return [text[span.start : span.end] for span in SecretRules(known).find(text, key)]


# region: rules
@pytest.mark.parametrize(("rule", "secret"), SHAPES.items(), ids=list(SHAPES))
def test_a_shape_is_found_in_the_middle_of_a_text(rule: str, secret: str) -> None:
    [span] = SecretRules().find(f"it is {secret}\nand more")
    assert (span.rule, span.start, span.end) == (rule, 6, 6 + len(secret))


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('{"api_key":"abc def"}', "abc def"),
        ('{"clientSecret": "a\\"b"}', 'a\\"b'),
        ('{"args":"{\\"password\\":\\"hunter2\\"}"}', "hunter2"),
        ("export OPENAI_API_KEY=abc123; ls", "abc123"),
        ("DB_PASSWORD='two words' run", "'two words'"),
        ('token = "abc"', '"abc"'),
        ("curl --token abc -v", "abc"),
        ("x-api-key: 12345678abc", "12345678abc"),
        ("Authorization: Bearer abc.def-123456", "abc.def-123456"),
        ("Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ("git clone https://me:s3cr@host/x", "s3cr"),
        ('{"password":"cut off here', "cut off here"),
    ],
)
def test_a_value_is_found_by_the_name_before_it(text: str, secret: str) -> None:
    assert find(text) == [secret]


@pytest.mark.parametrize(
    "text",
    [
        "The token is a unit of text, and a secret: keep going.",
        '{"max_tokens": 100, "tokens": "many"}',
        "curl -H 'Authorization: Bearer $TOKEN'",
        "API_KEY=$KEY; PASSWORD=<yours>",
        "a basic understanding of bearer bonds",
        "https://example.com:8080/path",
        "password",
        "sk-short",
        "[REDACTED:key:1]",
        "API_KEY=[REDACTED:key:1][REDACTED:known:2]",
        '{"token":"[REDACTED:key:1]"}',
    ],
)
def test_prose_references_and_masks_are_left_alone(text: str) -> None:
    assert find(text) == []


def test_a_text_under_a_telling_key_is_a_secret_whole() -> None:
    assert find("x y z w", key="DB_PASSWORD") == ["x y z w"]
    assert find("x y z w", key="max_tokens") == []


@pytest.mark.parametrize(
    "form",
    [
        CANARY,
        json.dumps(CANARY)[1:-1],
        json.dumps(CANARY, ensure_ascii=False)[1:-1],
        json.dumps(json.dumps(CANARY)[1:-1])[1:-1],
        "canary-7f3a9c%2F%22quoted%22-%C3%A9-51",
    ],
)
def test_a_known_secret_is_found_in_each_of_its_forms(form: str) -> None:
    assert find(f"<{form}>", CANARY) == [form]


def test_what_overlaps_is_one_secret_so_nothing_is_left_beside_a_mask() -> None:
    whole = SHAPES["api-key"]
    assert find(f"x {whole} y", whole[4:20]) == [whole]


def test_the_beginning_of_a_known_secret_at_the_end_of_a_text_is_one() -> None:
    assert find(f"it is {CANARY[:15]}", CANARY) == [CANARY[:15]]
    assert find(f"it is {CANARY[:15]} or so", CANARY) == []
    assert find(f"it is {CANARY[:15]}[REDACTED:line-limit:1]", CANARY) == [CANARY[:15]]


@pytest.mark.parametrize(
    "text", ["a." * 100_000, '"token":"' * 20_000, '\\"token\\":\\"' * 15_000, "://x:" * 40_000]
)
def test_a_hostile_text_is_searched_in_a_moment(text: str) -> None:
    SecretRules([CANARY]).find(text)  # a quadratic search would not come back


# endregion


# region: traces
def planted(secret: str) -> list[Event]:
    """The story with a secret in every text that is not an id or a word."""
    story = calls()
    call = {**story[place(story, "tool.call")]["payload"]}
    arguments = json.dumps({"command": f"echo {secret}"}, ensure_ascii=False)
    story[1]["payload"]["content"] = f"my key is {secret}, use it"
    story[3]["payload"]["text"] = f"You said {secret[:5]}"
    story[4]["payload"]["text"] = f"{secret[5:]}. Thanks."
    whole = f"You said {secret}. Thanks."
    proposal = {"call_id": call["call_id"], "name": "bash", "arguments": arguments}
    story[5] = response(1, whole, proposal, chunks={"count": 2, "complete": True})
    story[6]["payload"]["arguments"] = arguments
    story[7]["payload"]["display"] = {"command": f"echo {secret}", "env": {"A": secret}}
    story[8]["payload"]["rationale"] = f"because {secret}"
    story[9]["payload"]["display"] = {"command": f"echo {secret}", secret: 1}
    story[10]["payload"]["text"] = f"{secret}\n"
    story[11]["payload"]["output"] = f"{secret}\n"
    story[11]["payload"]["notes"] = [f"note {secret}"]
    story[13]["payload"]["content"] = secret
    story[13]["ext"] = {"acme.note": {"deep": [secret]}}
    return numbered(story)


@pytest.mark.parametrize("secret", [CANARY, *SHAPES.values()])
def test_a_canary_in_every_text_is_nowhere_afterwards(secret: str) -> None:
    before = to_bytes(planted(secret))
    assert verdict(before, secret)[1]["R05"] > 5
    after = redacted(planted(secret), secret)
    assert verdict(after, secret) == (Verdict.COMPLETE, {})
    for part in (secret[:12], secret[-6:]):
        assert part not in after.decode()


def test_shapes_are_found_in_every_text_without_being_known() -> None:
    secret = SHAPES["github"]
    after = redacted(planted(secret))
    assert verdict(after, secret) == (Verdict.COMPLETE, {})


def test_the_same_secret_has_the_same_mask_everywhere() -> None:
    after = redacted(planted(CANARY), "something else", CANARY).decode()
    assert set(re.findall(r"\[REDACTED:[^\]]*\]", after)) == {"[REDACTED:known:2]"}


def test_the_marks_point_at_every_mask() -> None:
    events = loaded(redacted(planted(CANARY), CANARY))
    assert events[1]["redaction"] == {
        "status": "redacted",
        "policy": "curriculum-redact-1",
        "items": ["/payload/content"],
    }
    assert events[5]["redaction"]["items"] == [
        "/payload/content",
        "/payload/tool_calls/0/arguments",
    ]
    assert events[2]["redaction"] == {"status": "clean", "policy": "curriculum-redact-1"}


@given(
    st.lists(st.integers(0, 60), max_size=6),
    st.sampled_from([CANARY, *SHAPES.values()]),
    st.booleans(),
)
def test_a_secret_that_straddles_any_pieces_is_found(
    cuts: list[int], secret: str, fails: bool
) -> None:
    whole = f"before {secret} after"
    edges = sorted({0, len(whole), *(cut for cut in cuts if cut < len(whole))})
    pieces = [whole[a:b] for a, b in itertools.pairwise(edges)]
    deltas = [delta(1, index, piece) for index, piece in enumerate(pieces)]
    chunks = {"count": len(pieces), "complete": not fails}
    status = "failed" if fails else "completed"
    answer = response(1, whole, chunks=chunks, status=status)
    events = numbered([*calls()[:3], *deltas, answer])
    after = redacted(events, CANARY)
    assert verdict(after, secret)[1] == {}
    texts = [one["payload"]["text"] for one in loaded(after) if one["type"] == "model.delta"]
    assert len(texts) == len(pieces)
    bare = re.sub(r"\[REDACTED:[^\]]*\]", "", "".join(texts))
    assert bare == "before  after"


def test_a_secret_that_straddles_the_output_of_a_call_is_found() -> None:
    story = calls()
    at = place(story, "tool.output")
    pieces = [copy.deepcopy(story[at]) for _ in range(3)]
    for index, (piece, text) in enumerate(
        zip(pieces, (CANARY[:9], CANARY[9:20], CANARY[20:]), strict=True)
    ):
        piece["payload"].update(index=index, text=text)
    story[at : at + 1] = pieces
    after = redacted(numbered(story), CANARY)
    assert verdict(after)[0] is Verdict.COMPLETE
    assert CANARY[9:20] not in after.decode()
    assert after.decode().count("[REDACTED:known:1]") == 3


def test_each_piece_that_a_secret_touches_has_its_mask_and_no_other_piece_has_one() -> None:
    one, two = CANARY, "other-canary-4711"
    mask, other = "[REDACTED:known:1]", "[REDACTED:known:2]"
    texts = ["a ", one, " b ", two[:9], f"{two[9:]} ", f"{one} c {one[:9]}", one[9:], two, "d"]
    redactor = Redactor(SecretRules([one, two]))
    events = numbered([*calls()[:3], *(delta(1, at, text) for at, text in enumerate(texts))])
    held = [one for event in events for one in redactor.take(event)]
    pieces = [*held, *redactor.finish()][3:]
    left = [piece.event["payload"]["text"] for piece in pieces]
    assert left == ["a ", mask, " b ", other, f"{other} ", f"{mask} c {mask}", mask, other, "d"]
    masks = [[mask], [], [other], [other], [mask, mask], [mask], [other], []]
    told = [[("/payload/text", one) for one in each] for each in [[], *masks]]
    assert [piece.found for piece in pieces] == told


def test_an_answer_that_never_ends_is_masked_too() -> None:
    events = numbered([*calls()[:3], delta(1, 0, CANARY[:9]), delta(1, 1, CANARY[9:])])
    after = redacted(events, CANARY)
    assert verdict(after, CANARY) == (Verdict.OPEN, {})
    assert CANARY[9:20] not in after.decode()


WORDS = ("a", " ", "token=", '"api_key":"', '"', "\\", "[REDACTED:key:1]", "sk-", "Ab3dE6gH")
MORE = ("0", "Bearer ", "://u:", "@", CANARY, CANARY[:15])
FRAGMENTS = st.sampled_from([*WORDS, *MORE, *SHAPES.values()])


@given(st.lists(st.lists(FRAGMENTS, min_size=1, max_size=8).map("".join), max_size=5))
def test_redacting_twice_changes_nothing(texts: list[str]) -> None:
    deltas = [delta(1, index, text) for index, text in enumerate(texts)]
    user = event("user.message", "user", content="".join(texts))
    answer = response(1, "".join(texts), chunks={"count": len(texts), "complete": True})
    events = numbered([calls()[0], user, calls()[2], *deltas, answer])
    once = redacted(events, CANARY)
    assert redacted(loaded(once), CANARY) == once
    assert verdict(once)[1] == {}


@given(PLANS)
def test_any_run_is_as_right_after_as_before(plan: Plan) -> None:
    data = perform(plan)
    after = redacted(loaded(data), "work", "again")
    assert verdict(after)[0] in (Verdict.COMPLETE,)
    assert len(after.splitlines()) == len(data.splitlines())


def test_goldens_keep_their_words() -> None:
    paths = sorted(GOLDEN.glob("*.jsonl"))
    for path in paths:
        before, after = loaded(path.read_bytes()), loaded(redacted(loaded(path.read_bytes())))
        assert [one["payload"] for one in before] == [one["payload"] for one in after]
    assert len(paths) > 3


def test_what_is_withheld_stays_withheld() -> None:
    story = numbered(calls())
    story[1]["redaction"] = {"status": "withheld", "policy": "other"}
    assert loaded(redacted(story))[1]["redaction"] == {"status": "withheld", "policy": "other"}
    story[1]["payload"]["content"] = CANARY
    items = ["/payload/content"]
    marks = {"status": "withheld", "policy": "other", "items": items}
    assert loaded(redacted(story, CANARY))[1]["redaction"] == marks


def test_a_secret_in_the_marks_themselves_is_masked() -> None:
    story = numbered(calls())
    story[1]["redaction"] = {"status": "withheld", "policy": f"by {CANARY}"}
    story[7]["payload"]["display"] = {CANARY: "[REDACTED:key:1]"}
    pointer = "/payload/display/" + CANARY.replace("~", "~0").replace("/", "~1")
    story[7]["redaction"] = {"status": "redacted", "policy": CANARY, "items": [pointer]}
    [held] = Redactor(SecretRules([CANARY])).take(copy.deepcopy(story[1]))
    assert held.found == [("/redaction/policy", "[REDACTED:known:1]")]
    after = redacted(story, CANARY)
    assert verdict(after, CANARY) == (Verdict.COMPLETE, {})
    assert loaded(after)[7]["redaction"]["items"] == ["/payload/display/[REDACTED:known:1]"]


def test_a_line_that_masks_make_too_long_is_cut_and_marked() -> None:
    story = numbered(calls())
    story[1]["payload"]["content"] = "a b " * 65_000
    after = redacted(story, "a b ")
    assert verdict(after) == (Verdict.COMPLETE, {})
    assert "[REDACTED:line-limit:1]" in after.decode()


# endregion


# region: command
@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    path = tmp_path / "secrets"
    path.write_text(f"{CANARY}\nnowhere-at-all\n", "utf-8")
    return path


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.jsonl"
    path.write_bytes(to_bytes(planted(CANARY)))
    return path


def never_shown(done: Any) -> bool:
    return CANARY[:10] not in done.stdout + done.stderr


def test_the_command_writes_a_trace_that_check_passes(
    trace: Path, secrets: Path, tmp_path: Path
) -> None:
    output = tmp_path / "out.jsonl"
    checked = run("redact", "--check", trace, "--secret-file", secrets)
    assert checked.returncode == 1
    assert ": line 2: /payload/content [REDACTED:known:1]" in checked.stdout
    assert never_shown(checked)
    done = run("redact", trace, "--secret-file", secrets, "--output", output)
    assert done.returncode == 0
    assert done.stdout == ""
    assert re.fullmatch(r"redact: \d+ masks \(known \d+\)\n", done.stderr)
    assert os.stat(output).st_mode & 0o077 == 0
    again = run("redact", "--check", output, "--secret-file", secrets)
    assert again.returncode == 0
    assert again.stdout == f"{output}: nothing to mask\n"
    assert run("validate", output, "--secret-file", secrets).returncode == 0


def test_it_is_a_filter_too(trace: Path, secrets: Path) -> None:
    done = run("redact", "-", "--secret-file", secrets, data=trace.read_bytes())
    assert done.returncode == 0
    assert done.stdout.encode() == redacted(planted(CANARY), CANARY)


def test_a_secret_of_the_environment_is_known(trace: Path) -> None:
    done = run("redact", trace, "--secret-env", "THE_KEY", env={"THE_KEY": CANARY})
    assert done.returncode == 0
    assert never_shown(done)
    assert run("redact", trace, "--secret-env", "NO_SUCH_KEY").returncode == 64


def test_a_secret_where_no_mask_may_stand_refuses_the_trace(tmp_path: Path) -> None:
    trace, output = tmp_path / "trace", tmp_path / "out"
    trace.write_bytes(to_bytes(planted(CANARY)).replace(b'"request-1"', b'"request-hunter2"'))
    secret = tmp_path / "secret"
    secret.write_text("hunter2")
    done = run("redact", trace, "--secret-file", secret, "--output", output)
    assert done.returncode == 65
    assert done.stderr == (
        "redact: line 3: a secret stands at /payload/request_id, where no mask may stand; "
        "the trace cannot be shared\n"
    )
    assert not output.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["secret", "trace"]


def words_of(node: Any) -> Iterator[str]:
    """Every text and every key under a node."""
    if isinstance(node, dict):
        for key, child in node.items():
            yield key
            yield from words_of(child)
    elif isinstance(node, list):
        for child in node:
            yield from words_of(child)
    elif isinstance(node, str):
        yield node


def test_whatever_word_of_a_trace_is_secret_what_is_written_is_right(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A type that is masked is no type, and its event could be anything: that is told."""
    monkeypatch.setattr("curriculum.trace.command_redact.get_engine", lambda: FAST)  # made once
    trace, secret, output = tmp_path / "trace", tmp_path / "secret", tmp_path / "out"
    events = numbered(calls())
    trace.write_bytes(to_bytes(events))
    words = {word for word in words_of(events) if len(word) >= 4 and "\n" not in word}
    assert {"tool.result", "payload", "call-1", "completed"} <= words
    told = set()
    for word in sorted(words):
        secret.write_text(word)
        ended = main(["redact", str(trace), "--secret-file", str(secret), "--output", str(output)])
        shown = capsys.readouterr()
        assert len(shown.err.splitlines()) == 1, word
        if ended:
            assert (ended, output.exists()) == (65, False), word
            told.add(shown.err.partition("a secret stands at ")[2].partition(",")[0])
            continue
        data = output.read_bytes()
        report = validate(io.BytesIO(data).read, FAST, Options(is_strict=True))
        assert report.verdict == Verdict.COMPLETE, word
        left = {text for line in data.splitlines() for text in words_of(json.loads(line))}
        assert all(word not in text for text in left - {POLICY, "redaction"}), word
        output.unlink()
    assert {"/type", "/actor/kind", "the top of the event"} <= told


def test_a_torn_tail_is_left_out_and_fails_a_check(trace: Path, secrets: Path) -> None:
    data = trace.read_bytes() + CANARY.encode()
    done = run("redact", "-", "--secret-file", secrets, data=data)
    assert done.returncode == 0
    assert never_shown(done)
    assert "bytes have no LF and are left out" in done.stderr
    clean = run("redact", "--check", "-", data=to_bytes(numbered(calls())) + b"{")
    assert clean.returncode == 1
    assert clean.stdout.endswith("-: line 16: 1 bytes without LF, which cannot be checked\n")


@pytest.mark.parametrize(
    "words",
    [["a", "b"], ["--check", "a", "--output", "b"], ["a", "--secret-file", "/dev/null/x"]],
)
def test_wrong_usage_is_one_line(words: Sequence[str]) -> None:
    done = run("redact", *words)
    assert done.returncode in (64, 66)
    assert len(done.stderr.splitlines()) == 1


# endregion
