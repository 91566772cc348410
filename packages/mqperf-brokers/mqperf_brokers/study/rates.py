"""The rate that is sustained at one workload, and the interval in which a second one is expected.

Of a second mean of as many runs an interval of the mean holds too few.  Its prediction interval is
wider by the square root of two (G. J. Hahn and W. Q. Meeker, Statistical Intervals, 1991): here of
the logarithm, so that no end is negative.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, nan, sqrt

import pandas as pd

from mqperf.study.stats.bottleneck import LOAD_GENERATORS
from mqperf.study.stats.offered_rates import saturation_rates
from mqperf.study.stats.rules.finding import offered
from mqperf.study.stats.sustained import FIGURE, YES, best_first
from mqperf.study.tables import Tables, where

SECOND = sqrt(2)

FULL_LOAD, OFFERED, SEARCH = "at full load", "of offered rates", "searched for"
"""How a rate was looked for; a search that found some has what was to hold."""

UNBOUND = "nothing tells its interval: more repeats would"
NONE_KEEPS_UP = "no point is known to keep up beyond doubt"
NONE_OFFERED = "load generators kept up with no rate"


@dataclass(frozen=True, slots=True)
class Sustained:
    """A rate in msg/s, and the ends of its interval; NaN where they are not known.

    The lower end is 0, or the upper one infinite, where nothing bounds it: then the rate is the
    other end.  ``points`` are those on which it rests, and ``faults`` say why it is no rate that is
    sustained.
    """

    how: str
    rate: float = nan
    low: float = nan
    high: float = nan
    points: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        """Whether anything bounds it."""
        return self.low > 0 or self.high < inf


def sustained(part: Tables) -> Sustained:
    """That of the tables of one workload: as searched for, of offered rates, or at full load."""
    runs = part["runs"]
    if part["planned"]["search_place"].notna().any():
        return _searched(part)
    if part["points"][FIGURE].isna().all():
        return Sustained(FULL_LOAD, points=_points(runs), faults=("no run succeeded",))
    return _kept(part) if offered(runs).notna().any() else _at_full_load(part)


def _searched(part: Tables) -> Sustained:
    """The limit of a search, or the highest rate searched; the point that holds stands for it.

    It is at least that where load generators broke the next one.
    """
    rows = part["searches"]
    if rows.empty:
        return Sustained(
            SEARCH, points=_points(part["runs"]), faults=("no rate was found to hold",)
        )
    row = rows.iloc[0]
    how, points, rate = f"with {row['hold']}", (str(row["point"]),), row["limit_rate_msg_s"]
    if row["search_ends"] == "beyond" or row["limit"] == LOAD_GENERATORS:
        held = row["held_rate_msg_s"]
        return Sustained(how, held, held, inf, points)
    if pd.isna(rate):
        return Sustained(how, points=points, faults=("the search is not finished",))
    low, high = (row[f"limit_rate_msg_s_{end}"] for end in ("low", "high"))
    return Sustained(how, rate, *_of_second(rate, low, high), points)


def _kept(part: Tables) -> Sustained:
    """Between the least rate that a repeat kept, and the highest that one missed.

    There is no upper end where load generators were the limit: the system may keep up with more.
    The middle is that of all repeats together.  Of rates by runs only the points up to the rate
    that is kept say something of it: beyond it doubts are the way of things.
    """
    runs = part["runs"]
    together = [*_brackets(part, runs)]
    if not together:
        return Sustained(OFFERED, points=_points(runs), faults=("only one rate was offered",))
    (kept, missed), *_ = together
    every = [*together]
    for repeat in runs["repeat"].dropna().unique():
        every += _brackets(part, where(runs, repeat=repeat))
    lows, highs = zip(*every, strict=True)
    if kept == 0 and missed == inf:
        return Sustained(OFFERED, points=_points(runs), faults=(NONE_OFFERED,))
    below = runs if kept == 0 or len(part["rate_steps"]) else runs[offered(runs) <= kept]
    rate = kept if missed == inf else missed if kept == 0 else sqrt(kept * missed)
    return Sustained(OFFERED, rate, min(lows), max(highs), _points(below))


def _brackets(part: Tables, runs: pd.DataFrame) -> Iterator[tuple[float, float]]:
    """The highest rate kept by these runs, and the next; 0, or infinite, where there is none."""
    rows = saturation_rates({**part, "runs": runs}, part["bottlenecks"])
    of_tester = rows["limit"].eq(LOAD_GENERATORS).fillna(value=False)
    ends = rows.assign(most=rows["missed_rate_msg_s"].mask(of_tester))
    for kept, missed in ends[["kept_rate_msg_s", "most"]].itertuples(index=False):
        yield (0.0 if pd.isna(kept) else kept), (inf if pd.isna(missed) else missed)


def _at_full_load(part: Tables) -> Sustained:
    """The throughput of the best point, if that is known to keep up; its doubts are told beside."""
    head = best_first(part["points"], part).iloc[0]
    rate, low, high = (float(head[name]) for name in (FIGURE, f"{FIGURE}_low", f"{FIGURE}_high"))
    faults = () if head["keeps_up"] == YES else (NONE_KEEPS_UP,)
    return Sustained(FULL_LOAD, rate, *_of_second(rate, low, high), (str(head["point"]),), faults)


def _of_second(rate: float, low: float, high: float) -> tuple[float, float]:
    """Between what a second measurement is expected, by the 95 % interval of the first."""
    if not rate > 0:
        return low, high
    return rate * (low / rate) ** SECOND, rate * (high / rate) ** SECOND


def _points(runs: pd.DataFrame) -> tuple[str, ...]:
    return tuple(runs["point"].dropna().unique())
