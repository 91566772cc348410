"""Plan files: YAML in, a checked ``Plan`` out, or one error that names every problem's line.

``checked`` parses the plan, ``decision`` adds ``decide`` to two plans, ``copied`` makes the copy
that is kept beside the runs.
"""

from mqperf.plan.file.checked import (
    PlanFile,
    load_plan,
    parse_plan,
    plan_from,
    read_plan,
    read_plans,
)
from mqperf.plan.file.copied import as_measured, public
from mqperf.plan.file.decision import with_decision
from mqperf.plan.file.forms import Form

__all__ = [
    "Form",
    "PlanFile",
    "as_measured",
    "load_plan",
    "parse_plan",
    "plan_from",
    "public",
    "read_plan",
    "read_plans",
    "with_decision",
]
