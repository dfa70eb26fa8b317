"""`--allow-rule TOOL=TEXT` or `TOOL:PATTERN`: what `mino run` may do with nobody there to ask.

A rule allows the calls of one tool whose command (or path, for files) is exactly the text, or
matches a shell pattern as a whole. In a pattern `*` stands for anything, `/`, `;` and line ends
too, so it proves little about a shell command: `ls *.py` also matches `ls x; rm y.py`. The exact
text is the rule to prefer; nothing in it has a meaning, and what the model writes never is a
pattern. What no rule allows is denied.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from curriculum.core.policy import PolicyApprover, Rule
from curriculum.core.visible import quote
from curriculum.mino.config import ConfigError

TOOLS = {"bash": "command", "read_file": "path", "edit_file": "path"}  # what the pattern is of
NAME = "allow-rule"


def parse_rule(text: str) -> Rule:
    """The rule that `TOOL=TEXT` or `TOOL:PATTERN` means. Raises ConfigError."""
    found = re.fullmatch(r"(\w+)([=:])(.*)", text, re.DOTALL)
    tool, kind, pattern = found.groups() if found else ("", "", "")
    if tool not in TOOLS or not pattern.strip():
        raise ConfigError(
            f"--allow-rule {quote(text[:60])}: write TOOL=TEXT for exactly this text, for example "
            f"'bash=git status', or TOOL:PATTERN; tools: {', '.join(TOOLS)}"
        )
    if kind == "=":
        pattern = re.sub(r"[*?[]", r"[\g<0>]", pattern)
    return Rule("allow", f"--allow-rule {text}", tool, ((TOOLS[tool], pattern),))


def make_approver(rules: Iterable[str]) -> PolicyApprover:
    """An approver that allows by these rules and denies all else. Raises ConfigError."""
    return PolicyApprover([parse_rule(text) for text in rules], name=NAME)
