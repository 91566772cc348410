"""The sections of a test case: messages, throughput and latency, CPU of the nodes, over time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from mqperf.pages.report import drawings, grids, limits, losses, rows, run_sheets
from mqperf.pages.report.drawings import Drawing
from mqperf.pages.report.explorers import FOLDER, Explorers
from mqperf.pages.report.explorers import shown as shown_in_time
from mqperf.pages.report.rows import Printed
from mqperf.pages.report.rst import Grid, Text, download, escape, slug
from mqperf.pages.report.run_sheets import Sheets
from mqperf.pages.report.sections import (
    factors,
    insides,
    latencies,
    offered_rates,
    saturation,
    searches,
    steps,
)
from mqperf.pages.report.words import Layout, amount, cell, joined
from mqperf.plan.columns import COLUMNS
from mqperf.plan.test_cases import MESSAGES, TEST_CASES, TestCase, in_unit
from mqperf.record.streams.telling import BEYOND
from mqperf.study.stats.survivors import survivors
from mqperf.study.tables import (
    Tables,
    arranged,
    conditions,
    tidy,
    varied,
    where,
    whole,
    with_parameters,
)
from mqperf.study.tables.axes import FACTORS
from mqperf.study.tables.axis_words import called
from mqperf.study.tables.clocks import LARGE_SHARE
from mqperf.study.tables.places import CONDITION


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, what to know, the picture, the table and its data.

    ``apart`` is of what brokers, links or other loads count: messages, whatever the test case does.
    """

    heading: str
    text: str
    drawing: Drawing | None = None
    grid: Grid | None = None
    data: pd.DataFrame | None = None
    apart: bool = False

    @property
    def file(self) -> Text:
        """Name of the CSV file with the table's data."""
        return slug(self.grid.caption) + Text(".csv") if self.grid else Text()

    def counting(self, unit: str, kept: Sequence[str] = ()) -> "Section":
        """The same in the unit of the test case, but for names that are ``kept``."""
        if unit == MESSAGES or self.apart:
            return self
        drawing = None if self.drawing is None else self.drawing.counting(unit, kept)
        names = [*kept, *map(escape, kept)]
        grid = self.grid and replace(
            self.grid, headings=tuple(in_unit(one, unit, names) for one in self.grid.headings)
        )
        text = type(self.text)(in_unit(self.text, unit, names))
        return replace(self, text=text, drawing=drawing, grid=grid)

    def leading(self, sheets: Sheets) -> "Section":
        """The same; the first cell of a row leads to its run, or to the first of its point."""
        if self.grid is None or not self.grid.keys:
            return self
        rows = tuple(
            (run_sheets.linked(cells[0], sheets.get(key)), *cells[1:])
            for key, cells in zip(self.grid.keys, self.grid.rows, strict=True)
        )
        return replace(self, grid=replace(self.grid, rows=rows))


def sections(
    layout: Layout, case: str, tables: Tables, printed: Printed, labels: Iterator[str]
) -> Iterator[Section]:
    """The sections that there is data for; ``labels`` are those of the footnotes, page by page."""
    kept = list(conditions(tables)[CONDITION])
    for section in _sections(layout, case, tables, printed, labels):
        yield section.counting(TEST_CASES[case].unit, kept).leading(printed.sheets)


def _sections(
    layout: Layout, case: str, tables: Tables, printed: Printed, labels: Iterator[str]
) -> Iterator[Section]:
    yield _messages(case, tables, printed, labels)
    yield _sweep(layout, case, tables, printed.sweep, labels)
    if len(tables["saturation_rates"]):
        yield _saturation_rates(case, tables)
    if len(tables["searches"]):
        yield _searches(case, tables)
    if tables["runs"]["condition_failed"].notna().any():
        yield _ended_early(case, tables)
    if TEST_CASES[case].streamed and len(tables["percentiles"]):
        yield _percentiles(case, tables)
    if len(tables["steps"]):
        yield _steps(case, tables)
    if "nodes" in _shown(tables):
        yield _nodes(layout, case, tables, printed.nodes, labels)
    if len(tables["intervals"]):
        yield _timeline(case, tables)
    yield from _one_run(tables, printed.in_time)
    if len(tables["insides"]):
        yield _insides(case, tables, labels)
    yield from _surroundings(case, tables, labels)


def _surroundings(case: str, tables: Tables, labels: Iterator[str]) -> Iterator[Section]:
    """Of what was done to the system, or was beside the load."""
    if len(tables["outages"]):
        yield _outages(case, tables, labels)
        yield _action_phases(case, tables)
    if len(tables["factors"]):
        yield _factors(case, tables)
    if len(tables["links"]):
        yield _links(case, tables, labels)
    if len(tables["background"]):
        yield _background(case, tables, labels)


def _shown(tables: Tables) -> tuple[str, ...]:
    """The tables that a page shows of a test case: counts, sweep, nodes."""
    has_nodes = bool((tables["cpu"]["kind"] == "broker").any())
    return ("counts", "sweep", "nodes") if has_nodes else ("counts", "sweep")


def _messages(case: str, tables: Tables, printed: Printed, labels: Iterator[str]) -> Section:
    words = TEST_CASES[case]
    marks = grids.marks(tables["doubts"], "counts", "run", _shown(tables))
    caption = f"{words.title} Message count"
    sentences = [Text(words.finish.points), f"Lost messages are {words.finish.lost}."]
    if not _published(tables):
        sentences.append("Counts are of whole runs, after the last message.")
    sentences += losses.of_planned_actions(tables)
    return Section(
        "Message processing",
        Text(" ").join(sentences),
        drawings.counts(caption, printed.attempts),
        _linked(grids.count_grid(caption, printed.attempts, marks, labels), printed),
        tidy(printed.attempts),
    )


def _linked(grid: Grid, printed: Printed) -> Grid:
    """The table with a last column that leads to the run in time, where any was drawn so."""
    drawn = printed.in_time
    links = [
        download("open", FOLDER, f"{drawn[run].name}.svg") if run in drawn else Text("")
        for run in printed.attempts["run"]
    ]
    if not any(links):
        return grid
    rows = tuple((*cells, link) for cells, link in zip(grid.rows, links, strict=True))
    return replace(grid, headings=(*grid.headings, "run in time"), rows=rows)


def _one_run(tables: Tables, explorers: Explorers) -> Iterator[Section]:
    """The runs that answer, each with everything that was recorded of its seconds."""
    drawn = [run for run in shown_in_time(tables) if run in explorers]
    others = sum(run in explorers for run in tables["runs"]["run"]) - len(drawn)
    for run in drawn:
        heading, told = "One run in time", explorers[run].alt
        if len(drawn) > 1:
            heading += f", {where(tables['runs'], run=run)[CONDITION].iloc[0]}"
        text = " ".join(_in_time(told, others)) if run == drawn[0] else told
        yield Section(heading, escape(text), explorers[run])


def _in_time(alt: str, others: int) -> Iterator[str]:
    """Which run it is, and how to read it."""
    yield alt
    yield (
        "Shaded seconds are warm-up and cool-down, or an action of the plan. The heat map has the"
        " number of messages started in each second by latency, more intense for more messages;"
        " lines are of those finished in it."
    )
    if others:
        yield (
            f"{amount(others, 'other run')} of this test case can be opened from the table of"
            " messages, but not in a report in one file."
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
    for point, text in survivors(tables).items():
        marks.setdefault((point, "latency_mean_s"), []).append(text)
    return Section(
        f"The {what}",
        Text(" ").join(_explained(words, tables, figures)),
        drawings.sweep(caption, layout, case, figures, tables),
        grids.sweep_grid(caption, figures, system, marks, labels),
        figures,
    )


def _saturation_rates(case: str, tables: Tables) -> Section:
    rates = tables["saturation_rates"]
    return Section(
        "Saturation",
        " ".join(offered_rates.about(rates)),
        grid=offered_rates.grid(f"{TEST_CASES[case].title} saturation by offered rate", rates),
        data=rates,
    )


def _ended_early(case: str, tables: Tables) -> Section:
    runs = tables["runs"].dropna(subset=["condition_failed"])
    names = ("threads", *(name for name in varied(tables["runs"]) if name not in FACTORS))
    names += ("repeat", "asked_s", "window_s", "condition_failed")
    every = len(whole(tables["runs"]))
    return Section(
        "Runs that ended early",
        f"{amount(len(runs), 'run')} of {every} met the fail condition of the plan and ended early."
        " All figures of such a run are of its shortened window.",
        grid=Grid(
            f"{TEST_CASES[case].title} runs that ended early",
            tuple(COLUMNS[name].heading() for name in names),
            tuple(tuple(cell(name, row[name]) for name in names) for _, row in runs.iterrows()),
            keys=tuple(runs["run"]),
        ),
        data=tidy(runs),
    )


def _searches(case: str, tables: Tables) -> Section:
    found = tables["searches"]
    return Section(
        "Highest rate that holds",
        " ".join(searches.about(found)),
        grid=searches.grid(f"{TEST_CASES[case].title} searches", found),
        data=tidy(found),
    )


def _percentiles(case: str, tables: Tables) -> Section:
    words = TEST_CASES[case]
    caption = f"{words.title} latency by percentile"
    figures = with_parameters(tables["percentiles"], tables["runs"])
    return Section(
        "Latency by percentile",
        " ".join(latencies.about()),
        drawings.percentiles(caption, figures, words.finish.latency),
        latencies.grid(caption, figures),
        tidy(figures),
    )


def _explained(words: TestCase, tables: Tables, figures: pd.DataFrame) -> Iterator[str]:
    """What throughput, latency and CPU mean in this table."""
    if _published(tables):
        yield "The figures are those that were published."
    else:
        yield f"Throughput counts {words.finish.counted} in the measured window."
    yield words.finish.measured
    yield from _about_latencies(figures)
    if figures["cpu_total_cores"].notna().any():
        cpu = tables["cpu"]
        nodes = joined(list(cpu.loc[cpu["kind"] == "broker", "process"].unique()))
        yield f"CPU is that of {nodes or 'all broker nodes'}; 100 % is one hardware thread."
        if words.streamed:
            yield "CPU per message is that CPU divided by the throughput."
    if figures["throughput_msg_s_low"].notna().any():
        yield "Bars, low and high are the 95 % interval of the mean over the repeats."
    if limits.known(figures["bottleneck"]):
        yield Text("*Bottleneck* is the part that ran out of CPU or network.")
    if len(tables["doubts"]):
        yield "A hollow mark is a point with a doubt."
    if {*varied(figures)} & {*FACTORS}:
        yield (
            "Points with the same number of threads in another number of client processes are"
            " separate points, and are not connected."
        )
    yield from saturation.enough(tables["saturation_points"])["text"]


def _about_latencies(figures: pd.DataFrame) -> Iterator[str]:
    """What clocks, and few messages, leave of them."""
    if (unsure := figures.get("latency_uncertainty_s")) is not None:
        yield (
            "± is the error bound of a latency from the clocks of two hosts, after correction of"
            " their offsets."
        )
        usual = figures["latency_p50_s"].fillna(figures["latency_mean_s"])
        if (unsure > LARGE_SHARE * usual.abs()).any():
            yield (
                "If that is more than a tenth of the median, latencies are given with significant"
                " digits only."
            )
    if latencies.withheld(figures):
        yield (f"A percentile is given only if {BEYOND} messages or more of each run are slower.")


def _nodes(
    layout: Layout, case: str, tables: Tables, used: pd.DataFrame, labels: Iterator[str]
) -> Section:
    system, name = layout.system_title, TEST_CASES[case].title
    caption = f"{system} nodes CPU consumption during {name} load test"
    cpu = with_parameters(tables["cpu"], tables["runs"])
    marks = grids.marks(tables["doubts"], "nodes", "point", ("nodes",))
    text = "CPU of each node over the measured window: total, and its system part."
    if (used["kind"] != "broker").any():
        text += " Load generator and host are shown beside them."
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


def _insides(case: str, tables: Tables, labels: Iterator[str]) -> Section:
    caption = f"{TEST_CASES[case].title} inside of the nodes"
    told = insides.rows(tables)
    marks = grids.marks(tables["doubts"], "insides", "run", ("insides",))
    return Section(
        "Inside of the nodes",
        " ".join(insides.about(told)),
        drawings.insides(caption, with_parameters(tables["internals"], tables["runs"])),
        grids.inside_grid(caption, told, marks, labels),
        tidy(told),
        apart=True,
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
    yield (
        "Times are seconds. What is lost, and what failed, is of the messages that were due from"
        " the second before an action began until throughput was back, or the next action began;"
        " duplicates are those of the whole run."
    )


def _action_phases(case: str, tables: Tables) -> Section:
    phases = rows.action_phases(tables)
    return Section(
        "Before, during and after the actions",
        "Messages by the second of the measured window in which they were due, or sent where none"
        " is due. Latency is that of those that were finished.",
        grid=grids.phase_grid(f"{TEST_CASES[case].title} phases of actions", phases),
        data=tidy(phases),
    )


def _factors(case: str, tables: Tables) -> Section:
    caption = f"{TEST_CASES[case].title} factors of conditions"
    return Section(
        "Factors of the conditions",
        factors.about(tables, case),
        drawings.factors(caption, tables["factors"]),
        factors.grid(caption, tables),
        tables["factors"],
        apart=True,
    )


def _links(case: str, tables: Tables, labels: Iterator[str]) -> Section:
    caption = f"{TEST_CASES[case].title} link"
    links = rows.links(tables)
    marks = grids.marks(tables["doubts"], "links", "run", ("links",))
    return Section(
        "Link",
        " ".join(_about_links(tables)),
        grid=grids.link_grid(caption, links, marks, labels),
        data=tidy(links),
        apart=True,
    )


def _about_links(tables: Tables) -> Iterator[str]:
    """What the link is, how it was measured, and what else decides the throughput over it."""
    ends = [one.replace(", ", " and ") for one in tables["links"]["between"].unique()]
    yield (
        f"Every packet between {', or '.join(ends)} went over a link of this delay, jitter, loss"
        " and bandwidth."
    )
    yield (
        "Delays are one-way, measured by echoes before and after the load; losses are of all"
        " packets until then."
    )
    control = tables["hosts"]["tcp_congestion_control"].dropna().unique()
    if len(control):
        yield f"TCP congestion control of the hosts: {joined(list(control))}."


def _background(case: str, tables: Tables, labels: Iterator[str]) -> Section:
    caption = f"{TEST_CASES[case].title} background load"
    loads = rows.background(tables)
    marks = grids.marks(tables["doubts"], "background", "run", ("background",))
    return Section(
        "Background load",
        "Loads that ran beside the measured load from before its warm-up until after its cool-down."
        " No other figure includes their messages. Throughput and latency are those of the measured"
        " window, counts those of the whole background load.",
        grid=grids.background_grid(caption, loads, marks, labels),
        data=tidy(loads),
        apart=True,
    )


def _steps(case: str, tables: Tables) -> Section:
    noun = TEST_CASES[case].noun
    caption = f"{TEST_CASES[case].title} steps"
    figures = rows.steps(tables)
    return Section(
        f"What a {noun} is made of",
        " ".join(steps.about(noun, figures)),
        grid=steps.grid(caption, figures),
        data=tidy(figures),
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
            f"The start of the steady state is known for {len(found)} of"
            f" {amount(len(runs), 'run')}; {late or 'none'} of them became steady only after the"
            " warm-up."
        )
    heading = COLUMNS["throughput_sd_msg_s"].heading()
    sentence = "The column *{}* above is the standard deviation in the measured window."
    yield Text(sentence).format(heading)
