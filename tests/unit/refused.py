"""Plans that cannot be."""

from pathlib import Path

import pytest

from mqperf.base.errors import PlanError
from mqperf.lab.systems.in_plans import problems_of
from mqperf.plan.file import parse_plan


def refused(text: str, match: str) -> None:
    """See to it that a plan is refused in words that this expression finds."""
    with pytest.raises(PlanError, match=match):
        parse_plan(text, Path("plan.yaml"), problems_of)
