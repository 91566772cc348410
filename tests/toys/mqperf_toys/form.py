"""A form of plan files: YAML whose last line comes first."""

from pathlib import Path

from mqperf.base.problems import Where
from mqperf.plan.file import Form


def as_plan(text: str, _source: Path) -> tuple[str, dict[Where, int]]:
    """The lines in their order, without line numbers."""
    return "\n".join(reversed(text.splitlines())), {}


FORM = Form(".backwards", as_plan)
