"""Plan files: YAML in, a checked ``Plan`` out, or one error that names every problem's line.

``document`` reads the YAML, ``checked`` makes the plan, ``problems`` says what is wrong, and
``copied`` makes the copy that is kept beside the runs.
"""

from mqperf.plan.file.checked import (
    PlanFile,
    deciding,
    load_plan,
    parse_plan,
    plan_from,
    read_plan,
    read_plans,
)
from mqperf.plan.file.copied import as_measured, public
from mqperf.plan.file.forms import Form

__all__ = [
    "Form",
    "PlanFile",
    "as_measured",
    "deciding",
    "load_plan",
    "parse_plan",
    "plan_from",
    "public",
    "read_plan",
    "read_plans",
]
