"""What ``notebooks/stress.ipynb`` calls: offered rates, where they saturate, and percentiles.

``found`` are complete tables.  A folder without offered rates gives empty ones.
"""

import pandas as pd
from IPython.display import Markdown, display

from mqperf.pages import figures
from mqperf.pages.notebook import doubted_points, measured_layouts, sweep_of
from mqperf.pages.report.drawings import counting
from mqperf.pages.report.sections.offered_rates import TOLD
from mqperf.plan.test_cases import TEST_CASES, unit_of
from mqperf.study.tables import Tables, shown, varied, with_parameters
from mqperf.study.tables.axes import SWEEP


def show_rates(found: Tables, test_case: str) -> None:
    """Draw throughput, latency and CPU of each layout, beside what was offered."""
    for title, part in measured_layouts(found, test_case):
        rates, doubted = part["saturation_rates"], doubted_points(part)
        sheet = figures.sweep_sheet(part["points"], doubted=doubted, saturation_points=rates)
        display(Markdown(title), counting(sheet, unit_of(test_case)))


def show_percentiles(found: Tables, test_case: str) -> None:
    """Draw latency by percentile of each layout, as far as there are messages enough."""
    stream = TEST_CASES[test_case].finish.latency
    for title, part in measured_layouts(found, test_case):
        rows = with_parameters(part["percentiles"], part["runs"])
        display(Markdown(title), figures.percentile_sheet(rows, stream=stream))


def show_cpu_per_message(found: Tables, test_case: str) -> None:
    """Draw the broker's CPU for one message of each layout."""
    for title, part in measured_layouts(found, test_case):
        display(Markdown(title), sweep_of(part, "cpu_per_message"))


def saturation_rates(found: Tables) -> pd.DataFrame:
    """Which offered rates were kept up with, and where that ended: a row for each sweep of them."""
    rates = found["saturation_rates"]
    apart = [name for name in ("threads", *varied(found["runs"])) if name in rates.columns]
    return shown(rates, *SWEEP, *apart, *(name for name in TOLD if rates[name].notna().any()))
