"""`--allow-rule TOOL:PATTERN`: what `mino run` may do with nobody there to ask.

A rule allows the calls of one tool whose command (or path, for files) matches a shell pattern as
a whole; `*` matches `/` too. A pattern proves little about a shell command (`git *` also matches
`git x; rm y`), so an exact command is the rule to prefer. What no rule allows is denied.
"""

from __future__ import annotations

from collections.abc import Iterable

from curriculum.core.policy import PolicyApprover, Rule
from curriculum.core.visible import quote
from curriculum.mino.config import ConfigError

TOOLS = {"bash": "command", "read_file": "path", "edit_file": "path"}  # what the pattern is of
NAME = "allow-rule"


def parse_rule(text: str) -> Rule:
    """The rule that `TOOL:PATTERN` means. Raises ConfigError."""
    tool, colon, pattern = text.partition(":")
    if not colon or tool not in TOOLS or not pattern.strip():
        raise ConfigError(
            f"--allow-rule {quote(text[:60])}: write TOOL:PATTERN, for example 'bash:git status'; "
            f"tools: {', '.join(TOOLS)}"
        )
    return Rule("allow", f"--allow-rule {text}", tool, ((TOOLS[tool], pattern),))


def make_approver(rules: Iterable[str]) -> PolicyApprover:
    """An approver that allows by these rules and denies all else. Raises ConfigError."""
    return PolicyApprover([parse_rule(text) for text in rules], name=NAME)
