"""The table of the throughput that every layout and test case sustains."""

import pandas as pd

from mqperf.pages.report import limits
from mqperf.pages.report.tops import UNTOLD
from mqperf.pages.sections.section import Content
from mqperf.plan.columns import COLUMNS
from mqperf.plan.test_cases import TEST_CASES, in_unit, unit_of
from mqperf.study.stats.survivors import survivors
from mqperf.study.tables import Tables, varied

NAMES = {
    "system": "system",
    "label": "topology and queues",
    "case": "test case",
    "sustained_throughput_msg_s": "sustained, msg/sec",
    "highest_throughput_msg_s": "raw maximum, msg/sec",
    "threads": "threads",
}
LATENCY = {"latency_p50_s": "p50, ms", "latency_p99_s": "p99, ms"}
ENDS = {"bottleneck": "bottleneck", "doubts": "doubts"}

CAPTION = "What each layout sustains"


def table(tables: Tables, best: pd.DataFrame) -> Content:
    """Return a table with a row for each of these tops.

    Columns are sustained throughput, empty if no point certainly keeps up, and raw maximum; and
    of the representative point its threads, each varying parameter, median and 99th percentile of
    latency, bottleneck, and the number of kinds of doubt about it.
    """
    sound = best["sound"].astype(bool)
    unit = unit_of(*best["test_case"])
    limiting = limits.of_points(tables)
    rows = best.assign(
        case=[_case(name, unit) for name in best["test_case"]],
        sustained_throughput_msg_s=best["throughput_msg_s"].where(sound),
        highest_throughput_msg_s=best["top_throughput_msg_s"],
        bottleneck=[limiting.get(point, limits.UNKNOWN) for point in best["point"]],
        doubts=best["doubts"].map(len),
    )
    varying = {name: COLUMNS[name].heading() for name in varied(tables["points"])}
    headings = {**NAMES, **varying, **LATENCY, **ENDS}
    if len(best["system"].unique()) == 1:
        del headings["system"]
    return Content(
        heading=CAPTION,
        words=[],
        caption=CAPTION,
        rows=rows,
        columns={name: in_unit(text, unit) for name, text in headings.items()},
        key="point",
        marks=_marks(rows, tables),
        style="numbers named",
    )


def _case(name: str, unit: str) -> str:
    """Return the test case, with its unit if that differs from the heading."""
    case = TEST_CASES[name]
    return case.short if case.unit == unit else f"{case.short}, {case.unit}"


def _marks(rows: pd.DataFrame, tables: Tables) -> dict[tuple[str, str], list[str]]:
    """Return notes on throughputs not known to be sustained, and on latencies of survivors."""
    unknown = rows.loc[rows["sound"] & ~rows["sustained"], "point"]
    marks = {
        (str(point), "sustained_throughput_msg_s"): [f"at most; {UNTOLD}"] for point in unknown
    }
    lacking = survivors(tables)
    return marks | {(str(p), "latency_p50_s"): [lacking[p]] for p in rows["point"] if p in lacking}
