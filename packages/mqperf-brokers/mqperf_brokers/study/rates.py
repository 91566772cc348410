"""The rate sustained at one workload, and the interval in which a second measurement is expected.

A confidence interval of the mean is too narrow for a second mean of as many runs.  The prediction
interval is wider by the square root of two (G. J. Hahn and W. Q. Meeker, Statistical Intervals,
1991), here of the logarithm, so that no end is negative.

A repeat that was offered several rates tells two, a step apart, and what it sustains is anywhere
between.  So the variance of repeats is at least step² / 12, also where all repeats agree: without
that, 70 to 92 % of simulated second means were in the interval of 95 %, and with it 95 % or more.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp, inf, log, nan, sqrt
from statistics import fmean, variance

import pandas as pd
from scipy import special

from mqperf.study.series.intervals import CONFIDENCE
from mqperf.study.stats.bottleneck import LOAD_GENERATORS
from mqperf.study.stats.offered_rates import saturation_rates
from mqperf.study.stats.rules.finding import offered
from mqperf.study.stats.sustained import FIGURE, YES, best_first
from mqperf.study.tables import Tables, where

SECOND = sqrt(2)

FULL_LOAD, OFFERED, SEARCH = "at full load", "of offered rates", "searched for"
"""How a rate was found; a search that found one has its condition instead."""

UNBOUND = "nothing tells its interval: more repeats would"
NONE_KEEPS_UP = "no point is known to keep up beyond doubt"
NONE_OFFERED = "load generators kept up with no rate"


@dataclass(frozen=True, slots=True)
class Sustained:
    """A rate in msg/s, and the ends of its interval; NaN if they are not known.

    If nothing bounds it, the lower end is 0, or the upper one infinite: then the rate is the other
    end.  ``points`` are the points that it is derived from, and ``faults`` the reasons why it is
    not a sustained rate.
    """

    how: str
    rate: float = nan
    low: float = nan
    high: float = nan
    points: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        """Whether the interval has at least one bound."""
        return self.low > 0 or self.high < inf


def sustained(workload: Tables) -> Sustained:
    """Return the rate of the tables of a workload: of a search, offered rates, or full load."""
    runs = workload["runs"]
    if workload["planned"]["search_place"].notna().any():
        return _searched(workload)
    if workload["points"][FIGURE].isna().all():
        return Sustained(FULL_LOAD, points=_points(runs), faults=("no run succeeded",))
    return _kept(workload) if offered(runs).notna().any() else _at_full_load(workload)


def _searched(workload: Tables) -> Sustained:
    """Return the limit of a search, with the point that holds.

    It is a lower bound if the highest rate searched holds, or load generators were the limit.
    """
    rows = workload["searches"]
    if rows.empty:
        return Sustained(
            SEARCH, points=_points(workload["runs"]), faults=("no rate was found to hold",)
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


def _kept(workload: Tables) -> Sustained:
    """Return the mean over repeats of what each sustains, and the interval of a second mean.

    If a repeat has no upper end, because load generators were its limit, or no lower one, or if
    there is one repeat, the interval is from the lowest rate that a repeat kept to the highest that
    one missed, and the rate is from all repeats together.  If each run has one rate, only points up
    to the rate kept count: doubts beyond it are to be expected.
    """
    runs = workload["runs"]
    together = [*_brackets(workload, runs)]
    if not together:
        return Sustained(OFFERED, points=_points(runs), faults=("only one rate was offered",))
    (kept, missed), *_ = together
    repeats = [
        bracket
        for repeat in runs["repeat"].dropna().unique()
        for bracket in _brackets(workload, where(runs, repeat=repeat))
    ]
    lows, highs = zip(*together, *repeats, strict=True)
    if kept == 0 and missed == inf:
        return Sustained(OFFERED, points=_points(runs), faults=(NONE_OFFERED,))
    below = runs if kept == 0 or len(workload["rate_steps"]) else runs[offered(runs) <= kept]
    if len(repeats) > 1 and min(lows) > 0 and max(highs) < inf:
        return Sustained(OFFERED, *of_repeats(repeats), _points(below))
    rate = kept if missed == inf else missed if kept == 0 else sqrt(kept * missed)
    return Sustained(OFFERED, rate, min(lows), max(highs), _points(below))


def of_repeats(brackets: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    """Return the geometric mean of the middles of brackets, and the interval of a second mean."""
    middles = [log(kept * missed) / 2 for kept, missed in brackets]
    of_step = fmean(log(missed / kept) ** 2 for kept, missed in brackets) / 12
    error = sqrt(max(variance(middles), of_step) / len(brackets))
    quantile = special.stdtrit(len(brackets) - 1, (1 + CONFIDENCE) / 2)
    middle, half = fmean(middles), SECOND * quantile * error
    return exp(middle), exp(middle - half), exp(middle + half)


def _brackets(workload: Tables, runs: pd.DataFrame) -> Iterator[tuple[float, float]]:
    """Yield the highest rate that these runs kept, or 0, and the next one, or infinity."""
    rows = saturation_rates({**workload, "runs": runs}, workload["bottlenecks"])
    of_tester = rows["limit"].eq(LOAD_GENERATORS).fillna(value=False)
    ends = rows.assign(missed=rows["missed_rate_msg_s"].mask(of_tester))
    for kept, missed in ends[["kept_rate_msg_s", "missed"]].itertuples(index=False):
        yield (0.0 if pd.isna(kept) else kept), (inf if pd.isna(missed) else missed)


def _at_full_load(workload: Tables) -> Sustained:
    """Return the throughput of the best point; it is a fault if that is not known to keep up."""
    head = best_first(workload["points"], workload).iloc[0]
    rate, low, high = (float(head[name]) for name in (FIGURE, f"{FIGURE}_low", f"{FIGURE}_high"))
    faults = () if head["keeps_up"] == YES else (NONE_KEEPS_UP,)
    return Sustained(FULL_LOAD, rate, *_of_second(rate, low, high), (str(head["point"]),), faults)


def _of_second(rate: float, low: float, high: float) -> tuple[float, float]:
    """Return the prediction interval of a second measurement, by the first's 95 % interval."""
    if not rate > 0:
        return low, high
    return rate * (low / rate) ** SECOND, rate * (high / rate) ** SECOND


def _points(runs: pd.DataFrame) -> tuple[str, ...]:
    return tuple(runs["point"].dropna().unique())
