"""s11: the demo does what the lesson promises, and the exercises are graded."""

from __future__ import annotations

import contextlib
import io
import json
import unittest

from curriculum.grading.exercise import load
from curriculum.grading.purse import grade_purse
from curriculum.grading.s11 import grade_bill_of, grade_tiered_money
from curriculum.grading.what_it_costs import grade_what_it_costs
from curriculum.lessons.s11_cost.demo import PRICES, main

LESSON = "s11_cost"


class DemoTest(unittest.TestCase):
    def setUp(self) -> None:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            self.runner = main()
        self.first, *lines = printed.getvalue().splitlines()
        self.events = [json.loads(line) for line in lines]

    def payloads(self, type: str) -> list[dict]:
        return [event["payload"] for event in self.events if event["type"] == type]

    def money(self) -> list[dict]:
        return [p for p in self.payloads("budget.spend") if p["resource"] == "money"]

    def test_before_each_request_something_is_set_aside_and_after_it_settled(self) -> None:
        held = [p.get("reserved", 0) > 0 for p in self.money()]
        self.assertEqual(held, [True, False, True, False])

    def test_what_is_spent_is_what_the_usage_costs(self) -> None:
        usages = [p["usage"] for p in self.payloads("model.response")]
        cost = sum(PRICES.cost(u["input_tokens"], u["output_tokens"]) for u in usages)
        self.assertEqual(self.money()[-1]["spent"], cost)

    def test_no_answer_was_dearer_than_what_was_set_aside(self) -> None:
        before, after = self.money()[::2], self.money()[1::2]
        for reserved, settled in zip(before, after, strict=True):
            self.assertLessEqual(settled["spent"] - reserved["spent"], reserved["reserved"])

    def test_the_call_whose_result_could_not_be_read_is_not_begun(self) -> None:
        statuses = [p["status"] for p in self.payloads("tool.result")]
        self.assertEqual(statuses, ["completed", "not_executed"])
        self.assertEqual(len(self.payloads("tool.start")), 1)

    def test_the_run_ends_for_the_budget_and_says_which(self) -> None:
        [error] = self.payloads("error")
        self.assertEqual((error["kind"], error["resource"]), ("budget", "money"))
        self.assertEqual(self.payloads("session.stop")[0]["reason"], "budget")
        self.assertIn(error["message"], self.first)

    def test_the_limit_was_not_passed(self) -> None:
        for report in self.payloads("budget.spend"):
            self.assertGreaterEqual(report["remaining"], 0)


class ExerciseTest(unittest.TestCase):
    def test_a_bill_of(self) -> None:
        grade_bill_of(load(LESSON, "bill_of"))

    def test_b_tiered_money(self) -> None:
        grade_tiered_money(load(LESSON, "TieredMoney"))

    def test_c_what_it_costs(self) -> None:
        grade_what_it_costs(load(LESSON, "WHAT_IT_COSTS"))

    def test_d_purse(self) -> None:
        grade_purse(load(LESSON, "Purse"))
