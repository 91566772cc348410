"""Section on throughput, latency and CPU of every point."""

from collections.abc import Iterator

import pandas as pd

from mqperf.pages.report import drawings, limits, saturation
from mqperf.pages.report.rst import Text
from mqperf.pages.report.words import joined
from mqperf.pages.sections.percentiles import withheld
from mqperf.pages.sections.section import Content, Section, View, present
from mqperf.plan.columns import COLUMNS
from mqperf.plan.test_cases import streams
from mqperf.record.streams.telling import BEYOND
from mqperf.study.stats.rules.finding import offered
from mqperf.study.stats.survivors import survivors
from mqperf.study.tables import Tables, arranged, completed, in_curves, over_repeats, varied
from mqperf.study.tables.axes import FACTORS, by_point
from mqperf.study.tables.axis_words import called
from mqperf.study.tables.clocks import LARGE_SHARE, UNSURE

POINTS = (
    *(
        "threads",
        "processes",
        "throughput_msg_s",
        "latency_mean_s",
        "cpu_total_cores",
        "cpu_per_message_s",
        "bottleneck",
    ),
    *("throughput_msg_s_low", "throughput_msg_s_high", "throughput_sd_msg_s", "send_rate_msg_s"),
    *("latency_p50_s", "latency_p90_s", "latency_p95_s", "latency_p99_s", "latency_p999_s"),
    *("latency_max_s", "cpu_sys_cores", "published_throughput_msg_s", "published_latency_s"),
    *("repeats", "failed"),
)
"""The figures of a point that are shown, if they are known."""

LATENCIES = tuple(name for name in POINTS if name.startswith("latency_"))
"""Columns with an error from clocks, whose bound is in the column ``UNSURE``."""

AS_IN_2016 = {
    "published_throughput_msg_s": "throughput_msg_s",
    "published_latency_s": "latency_mean_s",
}
"""Figures computed as in 2016 -> columns with the same values in a report of that time."""


def content(view: View) -> Iterator[Content]:
    """Yield a table with the figures of every point, over its repeats."""
    if len(view.tables["rate_steps"]):
        return  # means over steps of different rates are meaningless
    figures, system = points(view.tables), view.layout.system_title
    subject = "throughput and latency"
    if figures["cpu_total_cores"].notna().any():
        subject = f"throughput, latency and {system} CPU utilization"
    axes = joined([called(name) for name in arranged(figures).names])
    caption = view.caption(f"{subject} depending on {axes}")
    surviving = survivors(view.tables).items()
    yield Content(
        heading=f"The {subject}",
        words=[*_words(view, figures)],
        caption=caption,
        rows=figures,
        columns=_columns(figures, system),
        key="point",
        marks={(point, "latency_mean_s"): [text] for point, text in surviving},
        drawing=drawings.sweep(caption, view.layout, view.test_case, figures, view.tables),
    )


def points(tables: Tables) -> pd.DataFrame:
    """Return one row per point: the table ``points``, and further figures over the repeats.

    Send rate, standard deviation and the figures as in 2016 are means over the whole runs, the
    largest latency is the maximum over them; the ``bottleneck`` is that on which all repeats
    agree.  CPU per message is kept only for test cases whose clients do not wait for messages.
    """
    runs = set(completed(tables["runs"])["run"])
    messages, latency = (
        frame[frame["run"].isin(runs)] for frame in (tables["messages"], tables["latency"])
    )
    rates = ["send_rate_msg_s", "throughput_sd_msg_s", "published_throughput_msg_s"]
    figures = tables["points"]
    if not figures["test_case"].isin(streams()).any():
        figures = figures.drop(columns=list(figures.filter(like="cpu_per_message_s")))
    for added in (
        over_repeats(messages, rates)[["point", *rates]],
        over_repeats(latency, ["published_latency_s"])[["point", "published_latency_s"]],
        by_point(latency)["latency_max_s"].max()[["point", "latency_max_s"]],
        limits.of_points(tables),
    ):
        figures = figures.merge(added, on="point", how="left")
    return in_curves(figures.assign(**uncertainty(latency, figures["point"])))


def uncertainty(latency: pd.DataFrame, points: pd.Series) -> dict[str, pd.Series]:
    """Return the column ``latency_uncertainty_s`` of these points, if it is above 0 at any.

    It is the maximum over the repeats.
    """
    largest = latency.groupby("point")[UNSURE].max()
    return {UNSURE: points.map(largest)} if largest.gt(0).any() else {}


def _columns(rows: pd.DataFrame, system: str) -> dict[str, str]:
    """Return the headings: figures measured at any point, and each varying parameter."""
    names = present(rows, POINTS, keep=("threads", "throughput_msg_s"))
    names = [name for name in names if name != "processes"]
    names[1:1] = varied(rows)
    redundant = ["repeats", "failed"] if (rows["repeats"] == 1).all() else []
    redundant += [name for name, same in AS_IN_2016.items() if rows[name].equals(rows[same])]
    redundant += [] if limits.known(rows["bottleneck"]) else ["bottleneck"]
    return {
        name: COLUMNS[name].heading(system if name.startswith("cpu_") else "")
        for name in names
        if name not in redundant
    }


def _words(view: View, figures: pd.DataFrame) -> Iterator[str]:
    """Yield the meaning of throughput, latency and CPU in this table."""
    if view.published:
        yield "The figures are those that were published."
    else:
        yield f"Throughput counts {view.case.finish.counted} in the measured window."
    yield view.case.finish.measured
    if not view.case.streamed and offered(view.tables["runs"]).notna().any():
        yield "At an offered rate it counts from the instant at which the message was due."
    yield from _about_latencies(figures)
    if figures["cpu_total_cores"].notna().any():
        cpu = view.tables["cpu"]
        nodes = joined(list(cpu.loc[cpu["kind"] == "broker", "process"].unique()))
        yield f"CPU is that of {nodes or 'all broker nodes'}; 100 % is one hardware thread."
        if view.case.streamed:
            yield "CPU per message is that CPU divided by the throughput."
    if figures["throughput_msg_s_low"].notna().any():
        yield "Bars, low and high are the 95 % interval of the mean over the repeats."
    if limits.known(figures["bottleneck"]):
        yield Text("*Bottleneck* is the part that ran out of CPU or network.")
    if len(view.tables["doubts"]):
        yield "A hollow mark is a point with a doubt."
    if {*varied(figures)} & {*FACTORS}:
        yield (
            "Points with the same number of threads in another number of client processes are"
            " separate points, and are not connected."
        )
    yield from saturation.enough(view.tables["saturation_points"])["text"]


def _about_latencies(figures: pd.DataFrame) -> Iterator[str]:
    """Yield the limits of latencies: errors of clocks, and too few messages."""
    if (error := figures.get("latency_uncertainty_s")) is not None:
        yield (
            "± is the error bound of a latency from the clocks of two hosts, after correction of"
            " their offsets."
        )
        typical = figures["latency_p50_s"].fillna(figures["latency_mean_s"])
        if (error > LARGE_SHARE * typical.abs()).any():
            yield (
                "If that is more than a tenth of the median, latencies are given with significant"
                " digits only."
            )
    if withheld(figures):
        yield f"A percentile is given only if {BEYOND} messages or more of each run are slower."


SECTION = Section("points", content)
