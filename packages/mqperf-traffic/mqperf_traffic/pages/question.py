"""The answer to how queues cope with recorded traffic, for all replays."""

from collections.abc import Sequence
from functools import partial

import pandas as pd

from mqperf.pages.figures import rate_sheet
from mqperf.pages.questions.question import Answer, Answering
from mqperf.pages.questions.words import (
    Row,
    bold,
    case_of,
    cited,
    grouped,
    ranged,
    rate_unit,
    where_of,
)
from mqperf.pages.report.drawings import Drawing, titles
from mqperf.pages.report.rst import Text
from mqperf.pages.report.words import joined
from mqperf.study.stats.compare import kinds_by_point
from mqperf.study.tables import Tables, varied, where
from mqperf_numbered.pages import parts
from mqperf_traffic.study.account import TOLERANCE
from mqperf_traffic.study.traffic import TABLE

SCALE, P99 = "traffic_scale", "latency_p99_s"


def asked(tables: Tables) -> bool:
    """Whether any run replays traffic."""
    return bool(len(tables[TABLE.name]))


def answer(tables: Tables) -> Answer | None:
    """Return a sentence for each point: rate, latency, and fidelity of the replay."""
    replays, varying = parts.told_apart(tables, TABLE)
    return parts.answer(
        "How do queues handle the recorded traffic?",
        replays,
        lambda runs: _sentence(runs, varying, tables),
        drawing=_drawing(tables),
    )


def _sentence(runs: pd.DataFrame, varying: Sequence[str], tables: Tables) -> Text:
    row = runs.iloc[0].to_dict()
    [point] = where(tables["points"], point=row["point"]).to_dict("records")
    doubted = cited(kinds_by_point(tables).get(row["point"]))
    return bold(case_of(row), where_of(row, varying, tables)) + Text(
        ": **{} {}**, p50 {}, p99 **{}**; {}{}."
    ).format(
        grouped(point["throughput_msg_s"]),
        rate_unit(row),
        _latency(point, "latency_p50_s"),
        _latency(point, P99),
        _fidelity(runs),
        doubted,
    )


def _latency(point: Row, name: str) -> str:
    if pd.isna(point[name]):
        return "not known for so few messages"
    low, high = (1e3 * point[f"{name}_{end}"] for end in ("low", "high"))
    return ranged(1e3 * point[name], (low, high), "ms")


def _fidelity(runs: pd.DataFrame) -> str:
    """Return what of the runs differs from the profile: seconds, routes or lengths."""
    off = {name: int(runs[f"{name}_off"].sum()) for name in ("seconds", "routes")}
    differences = [f"{count} of {runs[name].sum()} {name}" for name, count in off.items() if count]
    if runs["length_distance"].gt(TOLERANCE).any():
        differences.append("lengths of messages")
    if not differences:
        return "every second and route as recorded"
    return f"{joined(differences)}{' of all runs' if len(runs) > 1 else ''} not as recorded"


def _drawing(tables: Tables) -> Drawing | None:
    """Return a figure of the 99th percentile of latency by scale; None if there is one scale."""
    points = tables["points"]
    if SCALE not in varied(points):
        return None
    most = grouped(1e3 * points[P99].max())
    alt = f"The 99th percentile of latency against the scale of the replay: at most {most} ms."
    kinds = kinds_by_point(tables)
    sheet = partial(rate_sheet, points, titles(), SCALE, P99, doubted=kinds)
    return Drawing("Latency by the scale of the replay", alt, sheet)


ANSWERING = Answering(TABLE.name, asked, answer)
