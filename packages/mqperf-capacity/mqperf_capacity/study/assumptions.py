"""The assumptions of a prediction, above all that CPU is the limit, checked against the runs.

Four things are checked.  A run that does not keep its rate has met a limit, as has a load without a
rate that more threads do not make faster; if no role, and no machine, was near the end of its CPU
then, the limit is not CPU.  A window of W unconfirmed messages allows a rate of W / R, with R the
time until a confirm (J. Little, A Proof for the Queuing Formula L = λW, 1961).  A link carries no
more than its bandwidth.  Repeats of a point cost a node about the same.  Nothing is reported where
the data are inconclusive: on a machine that other processes had filled, or without latencies.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pandas as pd

from mqperf.base.one_line import amount
from mqperf.study.stats.rules.finding import each
from mqperf_capacity.study.demands import Demands
from mqperf_capacity.study.points import NOT_NODES, Model
from mqperf_diagnosis.study.windows import FEW, FULL

KEPT = 0.95
"""Share of the offered rate, or of what is sent, below which a run does not keep up."""

NEAR_FULL = 0.8
"""Share of its CPU from which on a role may be the limit, as it waits for CPU at times."""

MACHINE_FULL = 0.9
"""Share of the machine's CPU in use, by any process, from which on all on it waits for CPU."""

LINK_FULL = 0.9
"""Share of the bandwidth from which on a link is full: its frames and headers are not counted."""

MORE_THREADS, RISE = 0.5, 0.1
"""Relative increase of threads, and the least share of it by which throughput has to rise."""

UNSTEADY, UNSTEADY_CORES = 1.7, 0.05
"""Ratio of the CPU of a node in repeats of a point, and difference in cores, from which on its
messages did not cost the same.  A broker in Java still compiles its code in its first runs."""

CPU_LIMITS = "CPU is what limits"
COST_STAYS = "the CPU of a message stays the same"
WINDOW_LIMITS = "no window of unconfirmed messages limits"
LINK_LIMITS = "no link limits"

Row = dict[str, Any]


def broken(known: Demands, bound: float, payload: float | None = None) -> list[Row]:
    """Rows of ``broken_assumptions``: limits below ``bound``, the rate that CPU allows.

    ``payload`` is the length of bodies to predict for.
    """
    model = known.model
    rows = [*_links(known, bound, payload), *_windows(model, bound)]
    explained = {row["run"] for row in rows}
    rows += [row for row in (*_waiting(model), *_flat(model)) if row["run"] not in explained]
    rows += _unsteady(model)
    below = [row for row in rows if row["limit_msg_s"] < bound]
    return sorted(below, key=lambda row: float(row["limit_msg_s"]))


def _unsteady(model: Model) -> Iterator[Row]:
    """A row for the point whose repeats cost a node most differently, with a limit of 0."""
    used = model.used[~model.used["role"].isin(NOT_NODES)]
    used = used.merge(model.runs[["run", "point", "rate"]], on="run")
    ends = used.groupby(["role", "point"], as_index=False).agg(
        least=("cores", "min"), most=("cores", "max"), rate=("rate", "mean")
    )
    ends = ends.assign(ratio=ends["most"] / ends["least"], more=ends["most"] - ends["least"])
    apart = ends[ends["ratio"].ge(UNSTEADY) & ends["more"].ge(UNSTEADY_CORES)]
    for row in each(apart.nlargest(1, "ratio")):
        because = (
            f"at {row.rate:,.0f} msg/sec {row.role} used {row.least:.2g} cores in one repeat,"
            f" {row.most:.2g} in another: measure longer, after a longer warmup_s"
        )
        yield _row(COST_STAYS, because, 0.0)


def _row(assumption: str, because: str, limit: float, run: str | None = None) -> Row:
    """A row; ``because`` says why throughput does not exceed the limit."""
    return {"run": run, "assumption": assumption, "because": because, "limit_msg_s": limit}


def _links(known: Demands, bound: float, payload: float | None) -> Iterator[Row]:
    """A link that is full, or would be."""
    link = known.model.link
    full = link["link_bytes_s"].mul(8).ge(LINK_FULL * link["bandwidth_bits_s"])
    for row in each(link[full]):
        because = (
            f"the link of {_bits(row.bandwidth_bits_s)} carried {_bits(8 * row.link_bytes_s)} at"
            f" {row.rate:,.0f} msg/sec"
        )
        yield _row(LINK_LIMITS, because, row.rate, row.run)
    low_load = link[link["run"].isin(known.runs["run"]) & ~full]
    if low_load.empty:
        return
    if payload is not None:  # only runs with the measured length that is nearest
        bodies = known.runs.set_index("run")["body_bytes"].sub(payload).abs()
        low_load = low_load[low_load["run"].map(bodies).eq(low_load["run"].map(bodies).min())]
    size = float((low_load["link_bytes_s"] / low_load["rate"]).median())
    bandwidth = float(low_load["bandwidth_bits_s"].min())
    if (limit := LINK_FULL * bandwidth / 8 / size) < bound:
        because = (
            f"a message is {size:,.0f} bytes on the link of {_bits(bandwidth)}, which is full at"
            f" {limit:,.0f} msg/sec, before any CPU is"
        )
        yield _row(LINK_LIMITS, because, limit)


def _windows(model: Model, bound: float) -> Iterator[Row]:
    """A window of unconfirmed messages that is full, or would be.

    With an offered rate the time of a confirm counts from when a message was due: it is the time of
    the broker only where clients are not late, and the highest limit is of such a run.  A limit
    below a measured rate is ignored: a broker that is busy may confirm sooner.
    """
    runs = model.runs
    if "confirms" not in runs.columns:
        return
    confirming = runs[runs["confirms"].gt(0) & runs["confirm_p50_s"].gt(0)]
    window = (confirming["threads"] * confirming["confirms"]).astype("float64")
    limit = window / confirming["confirm_p50_s"] * _copies(confirming)
    waiting = confirming["sending"] * confirming["confirm_p50_s"]
    confirming = confirming.assign(window=window, waiting=waiting, limit=limit)
    full = confirming["offered"].isna() & waiting.ge(FULL * window)
    for row in each(confirming[full]):
        because = (
            f"{row.waiting:,.1f} of at most {row.window:,.0f} messages waited for their confirm,"
            f" which took {1e3 * row.confirm_p50_s:.1f} ms, at {row.rate:,.0f} msg/sec"
        )
        yield _row(WINDOW_LIMITS, because, row.rate, row.run)
    for row in each(confirming.sort_values("limit").tail(1)):
        if KEPT * runs["rate"].max() <= row.limit < bound:
            because = (
                f"{_unconfirmed(row)}, and with a confirm after {1e3 * row.confirm_p50_s:.1f} ms no"
                f" more than {row.limit:,.0f} msg/sec come through"
            )
            yield _row(WINDOW_LIMITS, because, row.limit)


def _unconfirmed(row: Any) -> str:  # noqa: ANN401 (a row of a frame has any columns)
    window = amount(row.confirms, "unconfirmed message")
    return f"{amount(row.threads, 'thread')} may have {window} each"


def _waiting(model: Model) -> Iterator[Row]:
    """Runs that did not keep up while no role, and no machine, was near the end of its CPU."""
    runs, fullest = model.runs, model.utilisation()
    for row in each(runs[_behind(runs) & _idle(runs, model)]):
        because = (
            f"no more than {row.rate:,.0f} msg/sec came through while the fullest role used"
            f" {100 * fullest[row.run]:.0f} % of its CPU: {_hint(row)}"
        )
        yield _row(CPU_LIMITS, because, row.rate, row.run)


def _hint(row: Any) -> str:  # noqa: ANN401 (a row of a frame has any columns)
    """What may be the limit, by the parameters of the run."""
    acknowledging = getattr(row, "acks", "auto") not in {"auto", None}
    for name in ("prefetch", "credit") if acknowledging else ("credit",):
        allowed = getattr(row, name, None)
        if pd.notna(allowed) and allowed <= FEW:
            few = amount(allowed, "message")
            return f"servers may have {few} at a time ({name}), so they wait for the next"
    if row.rate < KEPT * row.sending:
        return (
            f"{row.sending:,.0f} msg/sec were sent, and servers are slow, but not for want of CPU"
        )
    if pd.notna(row.offered) and row.sending < KEPT * row.offered:
        held_back = f"{row.offered:,.0f} msg/sec were to be sent, and clients were held back"
        confirms = getattr(row, "confirms", None)
        return f"{held_back}: {_unconfirmed(row)}" if pd.notna(confirms) and confirms else held_back
    return "a lock, a single queue, a connection or a wait"


def _behind(runs: pd.DataFrame) -> "pd.Series[bool]":
    """Whether clients missed the offered rate, or servers the rate that was sent."""
    late = runs["sending"].lt(KEPT * runs["offered"])
    due = runs["sending"] * _copies(runs)
    return (late | runs["rate"].lt(KEPT * due)).fillna(value=False)


def _copies(runs: pd.DataFrame) -> "pd.Series[float] | float":
    """The number of deliveries of each message: ``rate`` counts deliveries."""
    return runs["copies"].fillna(1).astype("float64") if "copies" in runs.columns else 1.0


def _idle(runs: pd.DataFrame, model: Model) -> "pd.Series[bool]":
    """Whether neither a role nor the machine was near the end of its CPU."""
    roles = runs["run"].map(model.utilisation()).lt(NEAR_FULL)
    return roles & runs["machine_share"].lt(MACHINE_FULL)


def _flat(model: Model) -> Iterator[Row]:
    """Loads without a rate that more threads do not make faster, although CPU is left."""
    runs = model.runs
    if runs["offered"].notna().any():
        return
    idle = runs[_idle(runs, model)]
    if "pause_s" in idle.columns and len(idle["pause_s"].unique()) > 1:
        return
    points = idle.groupby("threads", as_index=False).agg(rate=("rate", "mean"), run=("run", "last"))
    rows = [*each(points)]
    for few, many in pairwise(rows):
        more = many.threads / few.threads - 1
        if more >= MORE_THREADS and many.rate / few.rate - 1 < RISE * more:
            because = (
                f"{many.threads} threads get {many.rate:,.0f} msg/sec where {few.threads} get"
                f" {few.rate:,.0f}, and the fullest role used"
                f" {100 * model.utilisation()[many.run]:.0f} % of its CPU"
            )
            yield _row(CPU_LIMITS, because, many.rate, many.run)


def _bits(bits_s: float) -> str:
    return f"{bits_s / 1e6:,.3g} Mbit/s"
