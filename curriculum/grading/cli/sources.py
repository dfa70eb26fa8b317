"""The text of exercises: one region of a file, what else it needs, and how it was handed out.

An exercise stands between `# region:` and `# endregion`. What the learner has written is never
lost: before a file is put back, it is kept under `.curriculum/kept`.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

from curriculum.grading.cli.catalogue import Exercise
from curriculum.grading.cli.faults import NO_FILE, CommandError
from curriculum.grading.cli.progress import FOLDER
from curriculum.grading.exercise import is_stub, parse

REGION = re.compile(r"^# region: \w+\n.*?^# endregion[^\n]*\n?", re.MULTILINE | re.DOTALL)


def is_started(root: Path, exercise: Exercise) -> bool:
    """Whether the stub is no longer a stub; in a file that is no Python, its own region decides."""
    path = root / exercise.file
    try:
        tree = parse(path, exercise.file)
    except AssertionError:
        try:
            region = region_of(path.read_text("utf-8", "replace"), exercise.name)
            tree = ast.parse(region or "")
        except (OSError, SyntaxError, ValueError):
            return True
    return not is_stub(tree, exercise.name)


def region_of(text: str, name: str) -> str | None:
    """The region that defines `name` at its top level, with its two markers."""
    for match in REGION.finditer(text):
        try:
            if name in _defined(ast.parse(match[0])):
                return match[0]
        except SyntaxError:
            if re.search(rf"^(?:(?:def|class) )?{re.escape(name)}\b", match[0], re.MULTILINE):
                return match[0]
    return None


def text_needed(text: str, name: str) -> str:
    """The source of `name` and of all that it uses of its own file, imports first."""
    tree = ast.parse(text)
    homes = {name: node for node in tree.body for name in _defined(node)}
    wanted, waiting = set[ast.stmt](), [name]
    while waiting:
        node = homes.get(waiting.pop())
        if node is None or node in wanted:
            continue
        wanted.add(node)
        waiting += [n.id for n in ast.walk(node) if isinstance(n, ast.Name)]
    lines = text.splitlines()
    parts = []
    for number, node in enumerate(tree.body):
        if node not in wanted:
            continue
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
        part = "\n".join(lines[first - 1 : node.end_lineno])
        parts.append((isinstance(node, ast.Import | ast.ImportFrom), number, part))
    imports = [part for is_import, _, part in parts if is_import]
    bodies = [part for is_import, _, part in parts if not is_import]
    return "\n\n\n".join(["\n".join(imports), *bodies]).strip() + "\n"


def solution_of(root: Path, exercise: Exercise) -> str:
    """The reference for one exercise, with its helpers. Raises CommandError without it."""
    file = root / exercise.file.replace("exercises.py", "solutions.py")
    try:
        return text_needed(file.read_text("utf-8"), exercise.name)
    except OSError as fault:
        raise CommandError(f"{file} cannot be read: {fault.strerror}", NO_FILE) from None


def put_back(root: Path, file: str, exercise: Exercise | None = None) -> Path | None:
    """Make the file, or one exercise of it, what was handed out. Returns where the old one is kept.

    None if there was nothing to put back. Raises CommandError.
    """
    stubs = handed_out(root, file)
    path = (root / file).resolve()  # a link stays a link
    try:
        raw = path.read_bytes() if path.exists() else b""
    except OSError as fault:
        raise CommandError(f"{file} cannot be read: {fault.strerror}", NO_FILE) from None
    mine = raw.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
    fresh = stubs
    if exercise is not None:
        old, new = region_of(mine, exercise.name), region_of(stubs, exercise.name)
        if old is None or new is None:
            whole = exercise.short.partition(".")[0]
            raise CommandError(
                f"{file} has no '# region' with {exercise.name} any more;"
                f" put the whole lesson back: reset {whole}",
                NO_FILE,
            )
        fresh = mine.replace(old, new)
    if fresh == mine:
        return None
    data = fresh.encode("utf-8", "surrogateescape")
    try:
        kept = _keep(root, path, raw) if raw else None
        _replace(path, data.replace(b"\n", b"\r\n") if b"\r\n" in raw else data)
    except OSError as fault:
        message = (
            f"{fault.filename or file} cannot be written: {fault.strerror}; {file} is untouched"
        )
        raise CommandError(message, NO_FILE) from None
    return kept


def _replace(path: Path, data: bytes) -> None:
    """Whole or not at all."""
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_bytes(data)
    if path.exists():
        shutil.copymode(path, fresh)
    fresh.replace(path)


def handed_out(root: Path, file: str) -> str:
    """The newest version of the file in git in which nothing is done. Raises CommandError."""
    try:
        path = root / file
        if path.is_file() and _is_untouched(text := path.read_text("utf-8", "replace")):
            return text
        for commit in _git(root, "log", "--format=%H", "--", file).split():
            text = _git(root, "show", f"{commit}:{file}")
            if _is_untouched(text):
                return text
    except (OSError, subprocess.CalledProcessError):
        pass
    raise CommandError(f"git has no version here of {file} as it was handed out", NO_FILE)


def _git(root: Path, *words: str) -> str:
    return subprocess.run(
        ["git", *words],
        cwd=root,
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
        errors="replace",
    ).stdout


def _keep(root: Path, path: Path, data: bytes) -> Path:
    folder = root / FOLDER / "kept"
    folder.mkdir(parents=True, exist_ok=True)
    stem, number = f"{path.parent.name}-{time.strftime('%Y%m%d-%H%M%S')}", 0
    while True:
        kept = folder / f"{stem}{f'-{number}' if number else ''}.py"
        try:
            with kept.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            return kept
        except FileExistsError:
            number += 1


def _is_untouched(text: str) -> bool:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    defined = [
        name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AnnAssign | ast.Assign)
        for name in _defined(node)
    ]
    return bool(defined) and all(is_stub(tree, name) for name in defined)


def _defined(node: ast.AST) -> list[str]:
    """The names that a module, or one statement of it, defines at its top level."""
    if isinstance(node, ast.Module):
        return [name for inner in node.body for name in _defined(inner)]
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name.partition(".")[0] for alias in node.names]
    if isinstance(node, ast.AnnAssign):
        return [node.target.id] if isinstance(node.target, ast.Name) else []
    if isinstance(node, ast.Assign):
        return [
            n.id for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Name)
        ]
    if isinstance(node, ast.If):  # `if TYPE_CHECKING:`
        return [name for inner in node.body for name in _defined(inner)]
    return []
