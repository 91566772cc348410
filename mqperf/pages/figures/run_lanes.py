"""Timeline of a run, in lanes: phases of the load, actions, events of probes, doubts."""

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

LEFT_OUT = (
    *("provisioned", "started", "start", "measured", "drained", "stopped"),
    *("action-began", "action-ended"),
)
"""Kinds of events that other lanes show, or that are not about the load."""

LONGEST_NAME = 26
"""Most characters of a lane's name."""

THICK = 0.62
"""Height of bars as a share of their lane."""


@dataclass(frozen=True, slots=True)
class Event:
    """An event: begin and end in s, which may be the same, its tooltip, and its colour."""

    begin: float
    end: float
    text: str
    shade: palette.Shade


Lane = tuple[str, Sequence[Event]]
"""Name of a lane, and its events."""


def lanes(tables: Tables, doubted: pd.DataFrame, load: Span) -> list[Lane]:
    """Return the lanes of one run, with the events that overlap its load; none of them is empty."""
    groups = (_of_load(tables), _of_actions(tables), _of_events(tables), _of_doubts(doubted))
    begin, end = load
    clipped = (
        (name, [event for event in events if event.end >= begin and event.begin <= end])
        for name, events in chain.from_iterable(groups)
    )
    return [(name, events) for name, events in clipped if events]


def draw(drawn_lanes: Sequence[Lane], axes: Axes) -> Axes:
    """Draw events that lasted as bars, and instants as diamonds; each has a tooltip."""
    for y, (_, events) in enumerate(drawn_lanes):
        for event in events:
            shade, length = event.shade.light, event.end - event.begin
            if length > 0:
                (bar,) = axes.barh(y, length, THICK, left=event.begin, color=shade, alpha=0.75)
                tell(bar, [], [f"{event.begin:.1f} to {event.end:.1f} s\n{event.text}"])
            else:
                (mark,) = axes.plot([event.begin], [y], "D", color=shade, markersize=5)
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
    """Yield a lane for each kind of event that probes and processes recorded at a known time."""
    events = tables["events"].dropna(subset=["time_s"])
    for kind, rows in events[~events["what"].isin(LEFT_OUT)].groupby("what"):
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
