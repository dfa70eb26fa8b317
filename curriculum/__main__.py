"""`python -m curriculum COMMAND`: the lessons, their exercises, and a grader that explains."""

from __future__ import annotations

import sys

from curriculum.grading.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
