"""How many clients keep a server below 70 % of a core, a question of *Massively distributed RPCs*.

A point is busy when its busiest server used that much, in the mean over the point's runs.
"""

from collections.abc import Iterator, Sequence
from functools import partial

import pandas as pd
from matplotlib.figure import Figure

from mqperf.base.one_line import amount
from mqperf.pages.figures.labels import told_apart
from mqperf.pages.figures.marks import PLACE, Pen, dress, line, sweep_axis
from mqperf.pages.figures.palette import CPU, DASHES, FAINT
from mqperf.pages.figures.sheets import HEIGHT, one_legend, panes, without_legend
from mqperf.pages.questions.question import Answer, Answering
from mqperf.pages.questions.words import Row, bold, case_of, cited, where_of
from mqperf.pages.report.drawings import Drawing
from mqperf.pages.report.rst import Text
from mqperf.pages.sections.section import Content
from mqperf.plan.columns import COLUMNS
from mqperf.study.stats.compare import kinds_by_point
from mqperf.study.tables import Tables, at, varied
from mqperf.study.tables.axes import FACTORS, SWEEP

BUSY = 0.7
"""Share of a core from which on a server is busy, as the test plan defines it."""

CORES = "busiest_server_cores"
CAPTION = "CPU of the busiest server"
FIGURES = ("throughput_msg_s", "latency_mean_s")


def answer(tables: Tables) -> Answer | None:
    """Answer with the numbers of clients between which servers become busy.

    There is one sentence for each test case, layout, number of servers and other varied parameter.
    """
    points = _points(tables)
    if points.empty:
        return None
    keys = [*SWEEP, "processes", "hosts", *_other_parameters(points)]
    groups = [group for _, group in points.groupby(keys, sort=False, dropna=False)]
    return Answer(
        question=f"How many clients keep a server below {100 * BUSY:g} % of a core?",
        sentences=[_sentence(group, points, tables) for group in groups],
        drawing=_drawing(groups, points),
        table=_table(points),
        settle=[*_settle(groups)],
    )


def _points(tables: Tables) -> pd.DataFrame:
    """Return the points with the CPU of their busiest server, by test case, servers and clients.

    A run without the CPU of every server over the window does not count.
    """
    cpu = tables["cpu"].query("kind == 'server'")
    window_cores = cpu["total_cores"].where(cpu["scope"].eq("window"))
    servers = window_cores.groupby([cpu[name] for name in ("point", "run", "process")]).first()
    runs = servers.groupby(["point", "run"])
    busiest = runs.max().where(runs.count() == runs.size()).groupby("point").mean()
    points = tables["points"].assign(**{CORES: tables["points"]["point"].map(busiest)})
    known = points.dropna(subset=[CORES]).sort_values("threads", kind="stable")
    return known.sort_values([*SWEEP, "processes"], kind="stable", ignore_index=True)


def _other_parameters(points: pd.DataFrame) -> list[str]:
    """Return the varied parameters other than the numbers of servers and clients."""
    return [name for name in varied(points) if name not in FACTORS]


def _sentence(group: pd.DataFrame, points: pd.DataFrame, tables: Tables) -> Text:
    row, kinds = group.iloc[0].to_dict(), kinds_by_point(tables)
    several = len(points[["processes", "hosts"]].drop_duplicates()) > 1
    servers = _servers(row) if several else ""
    is_busy = group[CORES].ge(BUSY).cummax()  # by chance one with more clients may be below again
    below, busy = group[~is_busy], group[is_busy]
    bounds = [rows.iloc[index].to_dict() for rows, index in ((below, -1), (busy, 0)) if len(rows)]
    clients = " to ".join(_clients(bound) for bound in bounds)
    if busy.empty:
        clients = f"more than {clients}"
    elif below.empty:
        clients = f"fewer than {clients}"
    doubts = ", ".join(filter(None, (kinds.get(str(bound["point"])) for bound in bounds)))
    subject = bold(case_of(row), where_of(row, _other_parameters(points), tables), servers)
    return subject + Text(": {}{}.").format(clients, cited(doubts))


def _servers(row: Row) -> str:
    return amount(int(row["processes"] * row["hosts"]), "server")


def _clients(row: Row) -> str:
    """Return text such as ``40 clients (52 %)``."""
    return f"{int(row['threads'])} clients ({100 * row[CORES]:.0f} %)"


def _drawing(groups: Sequence[pd.DataFrame], points: pd.DataFrame) -> Drawing:
    """Plot the CPU of the busiest server by the number of clients, and the busy threshold."""
    ends = f"{100 * points[CORES].min():.0f} to {100 * points[CORES].max():.0f} %"
    alt = f"{CAPTION} against the number of clients: {ends} of a core; busy is {100 * BUSY:g} %."
    return Drawing(CAPTION, alt, partial(_sheet, groups, points))


def _sheet(groups: Sequence[pd.DataFrame], points: pd.DataFrame) -> Figure:
    figure, [[axes]] = panes(1, 1, HEIGHT)
    layouts = told_apart(points[["topology", "queues"]].itertuples(index=False, name=None))
    for number, group in enumerate(groups):
        row = group.iloc[0].to_dict()
        layout = layouts[row["topology"], row["queues"]] if len(layouts) > 1 else ""
        others = [at(row, names)] if (names := _other_parameters(points)) else []
        name = ", ".join(filter(None, [case_of(row), layout, _servers(row), *others]))
        curve = group.assign(**{PLACE: group["threads"], "total_cores": group[CORES]})
        line(curve, "total_cores", axes, Pen(CPU).numbered(number, name))
    axes.axhline(100 * BUSY, color=FAINT.light, linestyle=DASHES[1], linewidth=1)
    dress(axes, "")
    without_legend(axes, f"{CAPTION}, % of a core")
    sweep_axis(axes, "threads")
    axes.set_xlabel("clients", fontsize=9)
    axes.set_ylim(0, max(100.0, axes.get_ylim()[1]))
    one_legend(figure, [axes])
    return figure


def _table(points: pd.DataFrame) -> Content:
    rows = points.assign(
        case=[case_of(row) for row in points.to_dict("records")],
        servers=points["processes"] * points["hosts"],
        share=[f"{100 * cores:.0f}" for cores in points[CORES]],
    )
    headings = {name: COLUMNS[name].heading() for name in (*_other_parameters(points), *FIGURES)}
    columns = {"case": "test case", "servers": "servers", "threads": "clients"}
    return Content(
        heading=CAPTION,
        words=[],
        caption=CAPTION,
        rows=rows,
        columns={**columns, "share": "busiest server, % of a core", **headings},
        key="point",
        style="numbers named",
    )


def _settle(groups: list[pd.DataFrame]) -> Iterator[Text]:
    if any((group[CORES] < BUSY).all() for group in groups):
        yield Text("More *green_threads* would show when a server is busy.")
    if any(group[CORES].iloc[0] >= BUSY for group in groups):
        yield Text("Fewer *green_threads* would show when a server is not busy yet.")


ANSWERING = Answering("server-load", lambda _tables: False, answer)
