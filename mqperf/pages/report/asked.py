"""What a plan asks beside its threads, answered on the first page: conditions, actions, rates."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from mqperf.base.one_line import amount
from mqperf.pages.figures import labels
from mqperf.pages.report.rst import Text
from mqperf.pages.report.words import joined
from mqperf.pages.sections import rows
from mqperf.pages.sections.factors import LATENCY, factor
from mqperf.pages.sections.offered_rates import differing
from mqperf.plan.test_cases import TEST_CASES, in_unit
from mqperf.study.tables import Tables, at, conditions, with_parameters
from mqperf.study.tables.axes import LAYOUT, SWEEP
from mqperf.study.tables.places import CONDITION


def answers(tables: Tables) -> Iterator[Text]:
    """A sentence for each search, sweep of rates and kind of action, and one for all conditions."""
    for name in ("searches", "saturation_rates"):
        for row in tables[name].to_dict("records"):
            text = in_unit(row["text"], TEST_CASES[row["test_case"]].unit)
            yield Text("**{}**: {}").format(_place(row, tables), text)
    yield from chain(_conditions(tables), _actions(tables))


def _conditions(tables: Tables) -> Iterator[Text]:
    """By which factor each condition without actions prolongs a message, against the first one."""
    factors, runs = tables["factors"], with_parameters(tables["outages"], tables["runs"])
    acted = {*runs[CONDITION]} if CONDITION in runs.columns else set[str]()
    means = factors[factors["figure"].eq(LATENCY) & ~factors[CONDITION].isin(acted)]
    for _, own in means.groupby(list(SWEEP), sort=False):
        some = own.to_dict("records")
        apart = (CONDITION, *(one for one in differing(own, "threads") if one != CONDITION))
        places = [at(row, apart) for row in some]
        said = [f"{factor(row)} with {place}" for row, place in zip(some, places, strict=True)]
        first = conditions(tables)[CONDITION].iloc[0]
        told = " (95 % interval in parentheses, where it is known)"
        if own["doubted"].notna().any():
            told += "; some of them are doubted"
        yield Text("**{}**: mean latency, divided by that under *{}*, is {}{}.").format(
            _place(some[0], tables), first, joined(said), told
        )


def _actions(tables: Tables) -> Iterator[Text]:
    """For how long clients were without a message, and what was lost, at worst."""
    acted = rows.outages(tables)
    for _, own in acted.groupby([*SWEEP, "action", "node"], sort=False):
        row, noun = own.iloc[0].to_dict(), TEST_CASES[own["test_case"].iloc[0]].noun
        parts = []
        if own["outage_s"].notna().any():
            parts.append(f"no {noun} was finished for {own['outage_s'].max():.1f} s")
        if own["recovery_s"].notna().all():
            parts.append(f"throughput was back {own['recovery_s'].max():.1f} s after its end")
        else:
            parts.append("throughput was not seen to come back")
        if own["lost"].notna().any():
            parts.append(f"{amount(int(own['lost'].max()), noun)} lost")
        worst = f", at worst of {len(own)}" if len(own) > 1 else ""
        yield Text("**{}**: during {} of {}{}, {}.").format(
            _place(row, tables), row["action"], row["node"], worst, joined(parts)
        )


def _place(row: Mapping[Any, Any], tables: Tables) -> str:
    """The test case, and the layout where there are several."""
    several = len(tables["runs"][[*LAYOUT]].dropna().drop_duplicates()) > 1
    layout = f", {labels.layout(row['topology'], row['queues'])}" if several else ""
    return f"{TEST_CASES[row['test_case']].short}{layout}"
