"""Benchmarks measure in turns, compare round by round, and say where a peer wins."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable

import orjson
import pytest

from tests.benchmarks.__main__ import as_table, verdicts
from tests.benchmarks.picture import draw
from tests.benchmarks.rounds import compare, in_turns, middle, short
from tests.benchmarks.validators import PEERS, mutants
from tests.trace import story


def test_ways_take_turns_and_another_one_begins_each_round() -> None:
    done: list[str] = []
    ways: dict[str, Callable[[], object]] = {
        name: (lambda name=name: done.append(name)) for name in "abc"
    }
    taken = in_turns(ways, rounds=3, warm_up=1)
    assert "".join(done) == "abcbcacababc"
    assert {name: len(seconds) for name, seconds in taken.items()} == {"a": 3, "b": 3, "c": 3}


def test_a_ratio_is_the_median_of_rounds_and_so_a_slow_round_of_both_changes_nothing() -> None:
    quiet = compare("m", "ours", "peer", {"ours": [1.0, 1.0, 1.0], "peer": [2.0, 2.0, 2.0]})
    busy = compare("m", "ours", "peer", {"ours": [1.0, 9.0, 1.0], "peer": [2.0, 18.0, 2.0]})
    assert quiet == busy
    assert (quiet["low"], quiet["ratio"], quiet["high"]) == (0.5, 0.5, 0.5)


def test_the_middle_half_of_a_row_is_between_its_quartiles() -> None:
    assert middle([1.0, 2.0, 3.0, 4.0, 5.0]) == (2.0, 3.0, 4.0)
    assert middle([7.0]) == (7.0, 7.0, 7.0)


@pytest.mark.parametrize(("ratio", "text"), [(1.316, "1.32"), (0.39, "0.39"), (0.00812, "0.0081")])
def test_a_small_ratio_is_not_rounded_to_nothing(ratio: float, text: str) -> None:
    assert short(ratio) == text


def test_the_table_says_which_aim_is_missed_and_where_a_peer_wins() -> None:
    taken = {"ours": [3.0, 3.0], "limit": [2.0, 2.0], "better": [1.0, 1.0], "worse": [6.0, 6.0]}
    ratios = [
        compare("thing", "ours", "limit", taken, 1.3),
        compare("thing", "ours", "worse", taken, 1.0, is_peer=True),
        compare("thing", "ours", "better", taken, note="checks less", is_peer=True),
    ]
    table = as_table(ratios)
    assert table[1].endswith("1.30  MISSED")
    assert table[2].endswith("1.00  met")
    assert table[3].endswith("(checks less)")
    assert verdicts(ratios) == [
        "aims: 1 of 2 met",
        "comparisons with peers: 2",
        "where a peer wins: better in thing (3.00)",
    ]
    assert verdicts(ratios[:2])[-1] == "where a peer wins: nowhere"
    texts = {element.text for element in ET.fromstring(draw(ratios)).iter()}
    assert {"thing / limit", "thing / worse", "thing / better"} <= texts


@pytest.mark.parametrize("name", PEERS)
def test_every_other_validator_takes_what_is_right_and_refuses_what_is_not(name: str) -> None:
    is_valid = PEERS[name]()
    event = story.user("Hello.")
    right = {
        **event,
        "event_id": "event-1",
        "sequence": 0,
        "parent_id": None,
        "timestamp": "2026-01-01T00:00:00.000000Z",
        "elapsed_us": 0,
    }
    assert is_valid(orjson.dumps(right))
    wrong = list(mutants([right]))
    assert len(wrong) > 50
    passed = [line for line in wrong if is_valid(line)]
    assert all(orjson.loads(line)["parent_id"] is None for line in passed)
    assert len(passed) < len(wrong) / 20, passed
