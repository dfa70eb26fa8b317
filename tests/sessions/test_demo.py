"""The s05 demo names its temporary directory to a person, and to nobody else."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from tests.golden import ROOT

DEMO = [sys.executable, "-m", "curriculum.lessons.s05_sessions.demo"]


def test_a_person_is_told_where_the_session_is_and_the_output_stays_the_same() -> None:
    terminal, child = os.openpty()
    told = subprocess.run(DEMO, cwd=ROOT, stdout=subprocess.PIPE, stderr=child, timeout=60)
    os.close(child)
    said = os.read(terminal, 1000).decode()
    os.close(terminal)
    found = re.search(r"the session is in (\S+) until the demo ends", said)
    assert found is not None
    assert not os.path.exists(found[1]), "a demo leaves nothing behind"
    piped = subprocess.run(DEMO, cwd=ROOT, capture_output=True, timeout=60)
    assert (piped.stdout, piped.stderr) == (told.stdout, b"")
