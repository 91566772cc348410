"""What happened in a run, in lanes: phases of the load, actions, what probes found, doubts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import pandas as pd
from matplotlib.axes import Axes

from mqperf.base.one_line import one_line
from mqperf.pages.figures import palette
from mqperf.pages.figures.marks import as_text, dress
from mqperf.pages.figures.run_seconds import Span, phases
from mqperf.pages.figures.told import tell
from mqperf.study.tables import Tables

TOLD_ELSEWHERE = (
    *("provisioned", "started", "start", "measured", "drained", "stopped"),
    *("action-began", "action-ended"),
)
"""Events that other lanes tell, or that are not about the load."""

LONGEST_NAME = 26
"""Letters of a lane's name that there is room for."""

THICK = 0.62
"""Share of a lane that its bars take."""


@dataclass(frozen=True, slots=True)
class Event:
    """From when to when it was, which may be an instant, and what it tells."""

    begin: float
    end: float
    text: str
    shade: palette.Shade


Lane = tuple[str, Sequence[Event]]
"""Its name, and what happened."""


def lanes(tables: Tables, doubted: pd.DataFrame, load: Span) -> list[Lane]:
    """Those of one run that have anything in them which was not over before the load, or later."""
    every = (_of_load(tables), _of_actions(tables), _of_events(tables), _of_doubts(doubted))
    begin, end = load
    within = (
        (name, [event for event in events if event.end >= begin and event.begin <= end])
        for name, events in chain.from_iterable(every)
    )
    return [(name, events) for name, events in within if events]


def draw(drawn_lanes: Sequence[Lane], axes: Axes) -> Axes:
    """Bars for what lasted, and diamonds for instants; each tells what it is."""
    for place, (_, events) in enumerate(drawn_lanes):
        for event in events:
            shade, length = event.shade.light, event.end - event.begin
            if length > 0:
                (bar,) = axes.barh(place, length, THICK, left=event.begin, color=shade, alpha=0.75)
                tell(bar, [], [f"{event.begin:.1f} to {event.end:.1f} s\n{event.text}"])
            else:
                (mark,) = axes.plot([event.begin], [place], "D", color=shade, markersize=5)
                tell(mark, [], [f"{event.begin:.1f} s\n{event.text}"])
    dress(axes, "events")
    names = [as_text(one_line(name, LONGEST_NAME)) for name, _ in drawn_lanes]
    axes.set_yticks(range(len(drawn_lanes)), names)
    axes.set_ylim(len(drawn_lanes) - 0.4, -0.6)
    axes.tick_params(axis="y", labelcolor=palette.INK.light)
    axes.grid(visible=False)
    return axes


def _of_load(tables: Tables) -> Iterator[Lane]:
    if spans := phases(tables["intervals"]):
        yield (
            "load",
            [
                Event(begin, end, name, palette.THROUGHPUT if name == "window" else palette.SENT)
                for name, (begin, end) in spans.items()
            ],
        )


def _of_actions(tables: Tables) -> Iterator[Lane]:
    actions = tables["outages"].dropna(subset=["began_s", "ended_s"])
    for row in actions.drop_duplicates(["action", "node", "commanded_s"]).to_dict("records"):
        name = f"{row['action']} {row['node']}"
        yield name, [Event(float(row["began_s"]), float(row["ended_s"]), name, palette.LATENCY)]


def _of_events(tables: Tables) -> Iterator[Lane]:
    """Those that probes and processes noted at a known instant; a lane for each kind."""
    events = tables["events"].dropna(subset=["time_s"])
    for kind, rows in events[~events["what"].isin(TOLD_ELSEWHERE)].groupby("what"):
        yield (
            str(kind),
            [
                Event(float(time_s), float(time_s), str(detail or kind), palette.FAILED)
                for time_s, detail in zip(rows["time_s"], rows["detail"].fillna(""), strict=True)
            ],
        )


def _of_doubts(doubted: pd.DataFrame) -> Iterator[Lane]:
    for kind, rows in doubted.groupby("kind", sort=False):
        yield (
            f"doubt: {kind}",
            [
                Event(float(row["from_s"]), float(row["until_s"]), str(row["text"]), palette.LOST)
                for row in rows.to_dict("records")
            ],
        )
