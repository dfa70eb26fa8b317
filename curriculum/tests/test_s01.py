"""The s01 demo ends in one recorded stop."""

import contextlib
import io
import unittest

from curriculum.lessons.s01_agent_loop.demo import PROMPT, main


class DemoTest(unittest.TestCase):
    def test_demo_asks_once_and_stops(self) -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            runner = main()
        self.assertEqual([[m.content for m in r] for r in runner.model.requests], [[PROMPT]])
        self.assertEqual(runner.recorder.events[-1].payload["reason"], "completed")
