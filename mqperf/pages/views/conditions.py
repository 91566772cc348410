"""What ``notebooks/wan.ipynb`` calls: conditions of a plan against the first one, and links.

``found`` are complete tables.  A folder whose plan has no conditions gives empty ones.
"""

import pandas as pd
from IPython.display import Markdown, display

from mqperf.pages import figures
from mqperf.pages.report import rows as report_rows
from mqperf.pages.report.sections.factors import grid
from mqperf.plan.columns import COLUMNS, LINK_TOLD
from mqperf.study.tables import (
    Tables,
    arranged,
    at,
    by_layout,
    select,
    shown,
    varied,
    with_parameters,
)


def show_factors(found: Tables, test_case: str) -> None:
    """Show the factors of each layout's conditions as a table, and draw them with intervals."""
    of_case = select(found, test_case=test_case)
    for title, part in by_layout(of_case, of_case["factors"]):
        cells = grid("", part)
        table = pd.DataFrame(cells.rows, columns=list(cells.headings)).set_index("condition")
        display(Markdown(title), table, figures.factor_sheet(part["factors"]))


def links(found: Tables) -> pd.DataFrame:
    """The link of every run: as the plan asks for it, and as measured before and after the load."""
    rows = with_parameters(found["links"], found["runs"])
    told = [name for name in LINK_TOLD if rows[name].notna().any()]
    keys = [name for name in ("test_case", "threads", *varied(found["runs"])) if name not in told]
    return shown(rows, *keys, "repeat", *told)


def steps(found: Tables) -> pd.DataFrame:
    """Mean time of every step in milliseconds, a column for each point."""
    rows = report_rows.steps(found)
    names = arranged(rows).names
    rows["where"] = [at(row, names) for row in rows.to_dict("records")]
    rows["mean_ms"] = rows["latency_mean_s"] * COLUMNS["latency_mean_s"].scale
    index = ["step_number", "step", "step_kind", "sender", "receiver"]
    return rows.set_index([*index, "where"])["mean_ms"].unstack("where", sort=False)  # noqa: PD010 (pivot_table drops a step without sender)
