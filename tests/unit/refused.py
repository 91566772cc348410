"""An assertion that a plan is refused."""

from pathlib import Path

import pytest

from mqperf.base.errors import PlanError
from mqperf.lab.systems.in_plans import problems_of
from mqperf.plan.file import parse_plan


def refused(text: str, match: str) -> None:
    """Assert that the plan is refused with a message that matches this expression."""
    with pytest.raises(PlanError, match=match):
        parse_plan(text, Path("plan.yaml"), problems_of)
