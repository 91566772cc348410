"""The kinds of doubt, from the register of checks."""

from mqperf.study.stats.doubt_kinds import CHECKS

from .grid import code, prose, table


def markdown() -> str:
    """One row per kind: what is asked of the tables, why that matters, and how much."""
    rows = (
        (code(kind), prose(check.question), prose(check.reason), check.weight)
        for kind, check in CHECKS.items()
    )
    return table(("kind", "question", "reason", "weight"), rows)
