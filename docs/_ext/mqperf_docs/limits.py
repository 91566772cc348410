"""The limits of every rule: numbers with a meaning, as they stand in the code."""

import ast
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import mqperf

from .grid import code, prose, table

ROOT = Path(mqperf.__file__).parent / "study"
PLACES = ("series/intervals.py", "series/warmup.py", "stats/*.py", "stats/rules/*.py")


def markdown() -> str:
    """One row per number that decides something: where it stands, its value, what it means."""
    return table(("file", "limit", "value", "meaning"), _rows())


def _rows() -> Iterator[tuple[str, ...]]:
    for file in sorted(path for place in PLACES for path in ROOT.glob(place)):
        where = file.relative_to(ROOT).with_suffix("").as_posix()
        body = ast.parse(file.read_text(encoding="utf-8")).body
        for statement, told in pairwise([*body, ast.Pass()]):
            match statement:
                case ast.Assign([ast.Name(name)], ast.Constant(float() | int() as value)):
                    yield code(where), code(name), str(value), _meaning(told)


def _meaning(statement: ast.stmt) -> str:
    """The text below an assignment, if there is one."""
    match statement:
        case ast.Expr(ast.Constant(str() as text)):
            return prose(" ".join(text.split()))
    return ""
