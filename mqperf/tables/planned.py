"""What the plan of a runs folder asks for, to be held against what is there."""

from pathlib import Path

import pandas as pd

from mqperf.errors import PlanError
from mqperf.plan_file import load_plan
from mqperf.tables.of_run import keys
from mqperf.tables.shape import conform, empty, in_order


def planned(plan: Path) -> pd.DataFrame:
    """The table ``planned``: one row per run that the plan asks for; none where it cannot be read.

    A folder without a plan, or with one of another time, is no reason to refuse its runs.
    """
    if not plan.exists():
        return empty("planned")
    try:
        cases = load_plan(plan).cases()
    except PlanError:
        return empty("planned")
    rows = [keys(case.id, case) | {"control_run": case.control_run} for case in cases]
    return in_order(conform("planned", pd.DataFrame(rows)))
