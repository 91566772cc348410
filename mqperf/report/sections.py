"""The sections of a test case: messages, throughput and latency, CPU of the nodes, over time."""

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from mqperf.columns import COLUMNS
from mqperf.report import drawings, grids, limits, rows, saturation
from mqperf.report.drawings import Drawing
from mqperf.report.rows import Printed
from mqperf.report.rst import Grid, Text, slug
from mqperf.report.words import Layout, amount, joined
from mqperf.tables import Tables, arranged, tidy, varied, whole, with_parameters
from mqperf.tables.axes import FACTORS
from mqperf.tables.axis_words import called
from mqperf.tables.clocks import LARGE_SHARE
from mqperf.test_cases import TEST_CASES, TestCase

_POINTS = {
    True: Text(
        "Messages are counted at 3 points: ``sent`` (attempts by the client), ``received``"
        " (messages handled by the server) and ``round-trip`` (replies that the client got)."
    ),
    False: Text(
        "Messages are counted at 2 points: ``sent`` (attempts by the client) and ``received``"
        " (messages handled by the server)."
    ),
}
"""Where messages are counted, by whether there are replies."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, what to know, the picture, the table and its data."""

    heading: str
    text: str
    drawing: Drawing | None = None
    grid: Grid | None = None
    data: pd.DataFrame | None = None

    @property
    def file(self) -> Text:
        """Name of the CSV file with the table's data."""
        return slug(self.grid.caption) + Text(".csv") if self.grid else Text()


def sections(
    layout: Layout, case: str, tables: Tables, printed: Printed, labels: Iterator[str]
) -> Iterator[Section]:
    """The sections that there is data for; ``labels`` are those of the footnotes, page by page."""
    yield _messages(case, tables, printed.attempts, labels)
    yield _sweep(layout, case, tables, printed.sweep, labels)
    if "nodes" in _shown(tables):
        yield _nodes(layout, case, tables, printed.nodes, labels)
    if len(tables["intervals"]):
        yield _timeline(case, tables)
    if len(tables["outages"]):
        yield _outages(case, tables, labels)
    if len(tables["background"]):
        yield _background(case, tables, labels)


def _shown(tables: Tables) -> tuple[str, ...]:
    """The tables that a page shows of a test case: counts, sweep, nodes."""
    has_nodes = bool((tables["cpu"]["kind"] == "broker").any())
    return ("counts", "sweep", "nodes") if has_nodes else ("counts", "sweep")


def _messages(case: str, tables: Tables, attempts: pd.DataFrame, labels: Iterator[str]) -> Section:
    words = TEST_CASES[case]
    marks = grids.marks(tables["doubts"], "counts", "run", _shown(tables))
    caption = f"{words.title} Message count"
    sentences = [_POINTS[words.replies], f"Lost messages are {words.finish.lost}."]
    if not _published(tables):
        sentences.append("Counts are of whole runs, after the last message.")
    return Section(
        "Message processing",
        Text(" ").join(sentences),
        drawings.counts(caption, attempts),
        grids.count_grid(caption, attempts, marks, labels),
        tidy(attempts),
    )


def _published(tables: Tables) -> bool:
    """Whether the figures were copied from a report, so that little is known about them."""
    return bool((tables["runs"]["status"] == "published").all())


def _sweep(
    layout: Layout, case: str, tables: Tables, figures: pd.DataFrame, labels: Iterator[str]
) -> Section:
    words, system = TEST_CASES[case], layout.system_title
    what = "throughput and latency"
    if figures["cpu_total_cores"].notna().any():
        what = f"throughput, latency and {system} CPU utilization"
    axes = joined([called(name) for name in arranged(figures).names])
    caption = f"{words.title} {what} depending on {axes}"
    marks = grids.marks(tables["doubts"], "sweep", "point", _shown(tables))
    return Section(
        f"The {what}",
        Text(" ").join(_explained(words, tables, figures)),
        drawings.sweep(caption, layout, case, figures, tables),
        grids.sweep_grid(caption, figures, system, marks, labels),
        figures,
    )


def _explained(words: TestCase, tables: Tables, figures: pd.DataFrame) -> Iterator[str]:
    """What throughput, latency and CPU mean in this table."""
    if _published(tables):
        yield "The figures are those that were published."
    else:
        yield f"Throughput counts {words.finish.counted} in the measured window."
    yield words.finish.measured
    if (unsure := figures.get("latency_uncertainty_s")) is not None:
        yield (
            "± is the most by which the clocks of two hosts may make a latency wrong, after their"
            " offsets were corrected."
        )
        if (unsure > LARGE_SHARE * figures["latency_p50_s"].abs()).any():
            yield (
                "Where that is more than a tenth of the median, latencies are given with the digits"
                " that it leaves, and no more."
            )
    if figures["cpu_total_cores"].notna().any():
        cpu = tables["cpu"]
        nodes = joined(list(cpu.loc[cpu["kind"] == "broker", "process"].unique()))
        yield f"CPU is that of {nodes or 'all broker nodes'}; 100 % is one hardware thread."
    if figures["throughput_msg_s_low"].notna().any():
        yield "Bars, low and high are the 95 % interval of the mean over the repeats."
    if limits.known(figures["bottleneck"]):
        yield Text("*Bottleneck* is what ran out of CPU or of network.")
    if len(tables["doubts"]):
        yield "A hollow mark is a point with a doubt."
    if {*varied(figures)} & {*FACTORS}:
        yield (
            "Points with as many threads in another number of client processes are points of their"
            " own, and are not joined."
        )
    yield from saturation.enough(tables["saturation_points"])["text"]


def _nodes(
    layout: Layout, case: str, tables: Tables, used: pd.DataFrame, labels: Iterator[str]
) -> Section:
    system, name = layout.system_title, TEST_CASES[case].title
    caption = f"{system} nodes CPU consumption during {name} load test"
    cpu = with_parameters(tables["cpu"], tables["runs"])
    marks = grids.marks(tables["doubts"], "nodes", "point", ("nodes",))
    text = "CPU of each node over the measured window: total, and its system part."
    if (used["kind"] != "broker").any():
        text += " Load generator and host stand beside them."
    return Section(
        f"Detailed {system} CPU consumption",
        text,
        drawings.nodes(caption, cpu),
        grids.node_grid(caption, rows.wide(used), marks, labels),
        tidy(used),
    )


def _timeline(case: str, tables: Tables) -> Section:
    caption = f"{TEST_CASES[case].title} throughput over time"
    return Section(
        "Throughput over time",
        Text(" ").join(_over_time(tables)),
        drawings.timeline(
            caption, with_parameters(tables["intervals"], tables["runs"]), tables["outages"]
        ),
    )


def _outages(case: str, tables: Tables, labels: Iterator[str]) -> Section:
    caption = f"{TEST_CASES[case].title} outages"
    rows_of_actions = rows.outages(tables)
    marks = grids.marks(tables["doubts"], "outages", "run", ("outages",))
    return Section(
        "Outages",
        " ".join(_about_outages(rows_of_actions)),
        grid=grids.outage_grid(caption, rows_of_actions, marks, labels),
        data=tidy(rows_of_actions),
    )


def _about_outages(outages: pd.DataFrame) -> Iterator[str]:
    """What was done, and what the columns mean."""
    done = joined(list(outages["action"].unique()))
    yield f"Actions of the plan during the measured window: {done}."
    for name in ("downtime_s", "outage_s", "recovery_s"):
        column = COLUMNS[name]
        yield f"{column.label.capitalize()}: {column.meaning[0].lower()}{column.meaning[1:]}"
    yield "Times are seconds; lost messages and errors are those of the whole run."


def _background(case: str, tables: Tables, labels: Iterator[str]) -> Section:
    caption = f"{TEST_CASES[case].title} background load"
    loads = rows.background(tables)
    marks = grids.marks(tables["doubts"], "background", "run", ("background",))
    return Section(
        "Background load",
        "Loads that flowed beside the measured one from before its warm-up until after its"
        " cool-down. No other figure counts their messages. Throughput and latency are those of the"
        " measured window, counts those of all of the background load.",
        grid=grids.background_grid(caption, loads, marks, labels),
        data=tidy(loads),
    )


def _over_time(tables: Tables) -> Iterator[str]:
    """What the lines show, and where the warm-up really ended."""
    runs, phases = whole(tables["runs"]), tables["intervals"]["phase"]
    yield "Throughput in every second, one line per run."
    if phases.eq("warm-up").any():
        yield "Shaded seconds are warm-up and cool-down, and do not count."
    found = runs[runs["warmup_found_s"].notna()]
    if len(found):
        late = int((found["warmup_found_s"] > found["warmup_s"]).sum())
        yield (
            f"Of {amount(len(runs), 'run')}, {len(found)} tell where they became steady,"
            f" {late or 'none'} of them only after the warm-up."
        )
    heading = COLUMNS["throughput_sd_msg_s"].heading()
    sentence = "The column *{}* above is the standard deviation in the measured window."
    yield Text(sentence).format(heading)
