"""The effect of one layout, kind of queue, version or option compared with another."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf

import pandas as pd

from mqperf.base.one_line import percent, percents
from mqperf.base.releases import parsed, released
from mqperf.pages.figures import labels
from mqperf.pages.questions.question import (
    MORE_REPEATS,
    NARROWER,
    Answer,
    Answering,
    enough_repeats,
)
from mqperf.pages.questions.words import (
    Row,
    bold,
    case_of,
    cited,
    grouped,
    listed,
    rate_unit,
    system_title,
)
from mqperf.pages.report import drawings
from mqperf.pages.report.rst import Text
from mqperf.pages.report.words import joined
from mqperf.pages.sections.offered_rates import differing
from mqperf.plan import MOST
from mqperf.plan.columns import COLUMNS, parameters
from mqperf.plan.driver import SET
from mqperf.plan.pace import RATE
from mqperf.study.stats.between_rates import BETWEEN, UNNOTICED
from mqperf.study.stats.compare import CANNOT_TELL
from mqperf.study.stats.contrasts import (
    LOAD,
    contrasts,
    contrasts_at_rate,
    contrasts_of_rates,
    contrasts_of_repeats,
    named_axes,
)
from mqperf.study.stats.decided import ALIKE, SEQUENTIAL, decided
from mqperf.study.stats.offered_rates import brackets
from mqperf.study.stats.rules.finding import in_parts
from mqperf.study.stats.rules.together import ASKED
from mqperf.study.stats.searches import LIMIT_ENDS, limits
from mqperf.study.stats.sustained import FIGURE
from mqperf.study.tables import Tables, at, completed, varied
from mqperf.study.tables.axes import LAYOUT, SWEEP
from mqperf.study.tables.axis_words import worded
from mqperf.study.tables.places import CONDITION, GENERATOR

SIDES = ["point_a", "point_b"]
COMPARED = (*SIDES, "figure", "test_case", RATE, "what", "where", "place")
"""Columns of an empty table of contrasts."""

LATENCY = "latency_mean_s"

ONCE = Text(
    "Each rate is from one run, and another run may end one step away: *repeats: 3* would confirm"
    " these differences."
)
"""The methodology quantifies how often that happens, under *What a name changes*."""

KEPT_ENDS = ("kept_rate_msg_s", "missed_rate_msg_s")
"""Columns with the ends of the bracket: the highest offered rate kept, and the next one."""


def asked(tables: Tables) -> bool:
    """Return whether a name varies: a system, topology, kind of queue, version, or option.

    False if actions disturb the runs, or if these consist of parts: throughput over a whole run
    then says nothing about a name.
    """
    steady = tables["outages"].empty and not in_parts(tables["runs"]).all()
    return steady and bool(named_axes(tables["points"]))


def answer(tables: Tables) -> Answer | None:
    """Answer with a sentence for each value of a name but the first, in each shared context.

    Further sentences are on latency and CPU per message, where both sides keep up with one rate.
    """
    costs, rates = (_compared(tables, how) for how in (contrasts_at_rate, _contrasts))
    rates = rates[rates["figure"].eq(FIGURE)]
    if {*SIDES} <= {*rates.columns}:  # where both keep up with a rate, throughput is that rate
        rates = rates[~rates.set_index(SIDES).index.isin(costs.set_index(SIDES).index)]
    figure, shown = (FIGURE, rates) if len(rates) else (LATENCY, costs)
    shown = shown[shown["figure"].eq(figure)]
    if shown.empty:
        return None
    changes = ["throughput"] if len(rates) else []
    changes += ["latency at the same rate"] if len(costs) else []
    do = "does" if len(changes) == 1 else "do"
    names = listed(dict.fromkeys(_axis_title(axis) for axis in shown["axis"]))
    where = shown["where"].map(lambda layout: f"{layout}: " if layout else "")
    titled = shown.assign(what=where + shown["what"] + shown["place"])
    return Answer(
        question=f"How {do} {joined(changes)} change with {names}?",
        sentences=[*_sentences(rates), *_costs(costs), *_warnings(shown, tables)],
        drawing=drawings.contrasts(f"{changes[0].capitalize()} against the first", titled, figure),
        settle=[*_settling(shown[shown["sound"].astype(bool)], tables)],
    )


def _compared(tables: Tables, contrasts: Callable[[Tables, str], pd.DataFrame]) -> pd.DataFrame:
    """Return the contrasts of all names, with texts: values compared, layout, and point."""
    rows = [
        of_axis.assign(axis=axis)
        for axis in named_axes(tables["points"])
        if len(of_axis := contrasts(tables, axis))
    ]
    if not rows:
        return pd.DataFrame(columns=COMPARED)
    compared = pd.concat(rows, ignore_index=True)
    records = compared.to_dict("records")
    if compared["interval_kind"].eq(SEQUENTIAL).any():
        varying = ["threads", *varied(compared)]
    else:  # the best points may each have another load
        varying = [name for name in differing(compared, CONDITION) if name not in LOAD]
    return compared.assign(
        what=[_value(row, tables) for row in records],
        where=[_where(row, compared, tables) for row in records],
        place=[_place(row, varying, compared) for row in records],
    )


def _settling(compared: pd.DataFrame, tables: Tables) -> Iterator[Text]:
    """Yield what would decide the open comparisons."""
    rates = compared[compared["interval_kind"].eq(BETWEEN)]
    if tables["searches"].empty:
        open_ = rates["verdict"].eq(CANNOT_TELL)
        once = completed(tables["runs"])["repeat"].max() == 1
        one_staircase = once and len(tables["rate_steps"]) > 0
        if once and (~open_).any():
            yield ONCE
        elif one_staircase and open_.any():
            yield MORE_REPEATS
        if open_.any() and not one_staircase:
            yield NARROWER
    if not compared["interval_kind"].eq(SEQUENTIAL).any():
        yield from enough_repeats(compared)
        return
    needed = compared.loc[compared["verdict"].eq(CANNOT_TELL), "repeats_needed"]
    if needed.notna().any():
        yield Text("About {} repeats would decide more: raise *decide: within*.").format(
            int(needed.max())
        )
    if needed.isna().any():
        yield Text(
            "{} repeats would not decide everything; longer runs (*duration_s*) vary less."
        ).format(MOST)


def _contrasts(tables: Tables, axis: str) -> pd.DataFrame:
    """Return the contrasts of decisions, else of searched limits, of rates kept, of best points.

    The first of these that the runs have is used.
    """
    if len(decisions := decided(tables)):
        return decisions[decisions["axis"].eq(axis)]
    if len(tables["searches"]):
        return contrasts_of_rates(tables, limits(tables["searches"]), axis, LIMIT_ENDS)
    if len(tables["saturation_rates"]):
        between = contrasts_of_rates(tables, brackets(tables), axis, KEPT_ENDS)
        if tables["rate_steps"].empty:
            return between
        return _filled_up(contrasts_of_repeats(tables, axis), between)
    return contrasts(tables, axis)


def _filled_up(first: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
    """Return the first contrasts, and those of the others that the first do not cover."""
    if first.empty or others.empty:
        return others if first.empty else first
    keys = [name for name in (*SWEEP, *parameters()) if name in {*first} & {*others}]
    known = others.set_index(keys).index.isin(first.set_index(keys).index)
    return pd.concat([first, others[~known]], ignore_index=True)


def _sentences(compared: pd.DataFrame) -> Iterator[Text]:
    """Yield a sentence on all test cases for each pair of values and layout."""
    for (what, where), rows in compared.groupby(["what", "where"], sort=False):
        cases = [f"{case_of(row)}{row['place']}" for row in rows.to_dict("records")]
        yield bold(str(what), str(where)) + Text(": {}.").format(_changes(rows, cases))


def _costs(compared: pd.DataFrame) -> Iterator[Text]:
    """Yield a sentence on latency and CPU per message for each pair of values, case and rate."""
    figures = compared[compared["figure"].ne(FIGURE)]
    for _, rows in figures.groupby(["what", "where", "test_case", "place", RATE], sort=False):
        row = rows.iloc[0].to_dict()
        place = f"{case_of(row)}{row['place']} at {grouped(row[RATE])} {rate_unit(row)}"
        changes = _changes(rows, rows["figure"].map(lambda figure: COLUMNS[figure].label))
        doubts = cited(row["doubted"]) if row["sound"] else ""
        yield bold(row["what"], row["where"]) + Text(", {}: {}{}.").format(place, changes, doubts)


def _where(row: Row, compared: pd.DataFrame, tables: Tables) -> str:
    """Return the layout and generator in which two values are compared, if there are several."""
    of_axis = compared[compared["axis"].eq(row["axis"])]
    candidates = {*LAYOUT, GENERATOR} - {row["axis"]}
    names = (name for name in differing(of_axis, *LAYOUT) if name in candidates)
    return ", ".join(_worded(name, str(row[name]), tables) for name in names)


def _warnings(compared: pd.DataFrame, tables: Tables) -> Iterator[Text]:
    """Yield deprecation warnings of compared versions: later ones will lack the feature."""
    warned = tables["events"].query("what == 'deprecated'").merge(tables["runs"], on="run")
    if warned.empty or not compared["axis"].isin(ASKED).any():
        return
    features = warned["detail"].map(lambda detail: json.loads(detail)["feature"])
    for (title, feature), rows in warned.groupby(["system_title", features], sort=False):
        versions = joined(sorted({*rows["system_version"]}, key=parsed))
        yield Text("{} warn: {} is deprecated.").format(released(str(title), versions), feature)


def _changes(rows: pd.DataFrame, subjects: Iterable[str]) -> Text:
    """Say by how much each of the ``subjects`` changes, and which ones cannot be compared."""
    rows = rows.assign(subject=[*subjects])
    sound = rows[rows["sound"].astype(bool)]
    parts = [joined([change(row) for row in sound.to_dict("records")])] if len(sound) else []
    if len(no_interval := sound[sound["ratio_low"].isna()]):
        once = no_interval[["repeats_a", "repeats_b"]].eq(1).any(axis=None)
        why = "measured once" if once else "equal in all repeats"
        parts.append(f"{why}, so without an interval")
    if doubted := [*rows.drop(sound.index)["subject"]]:
        parts.append(f"{joined(doubted)} cannot be compared, because one side is in doubt")
    return Text("; ").join(map(Text.escape, parts))


def change(row: Row) -> str:
    """Say by how much the ``subject`` of a row changes, with the interval."""
    subject, changed = row["subject"], percent(row["ratio"])
    low, high = row["ratio_low"], row["ratio_high"]
    if pd.isna(low):
        return f"{subject} {changed}"
    if not 0 < low <= high < inf:
        return f"{subject} {changed} or {'higher' if low else 'lower'}"
    ends = percents(low, high)
    if row["verdict"] == ALIKE:
        return f"{subject} differs by less than {row['min_effect'] * 100:g} % ({ends})"
    if row["verdict"] == CANNOT_TELL and row["interval_kind"] == SEQUENTIAL:
        return f"{subject} is still undecided after {row['repeats']} repeats ({ends})"
    if low <= 1 + UNNOTICED and high >= 1 - UNNOTICED:
        return f"{subject} shows no clear difference ({ends})"
    return f"{subject} {ends if row['interval_kind'] == BETWEEN else f'{changed} ({ends})'}"


def _place(row: Row, varying: Sequence[str], rows: pd.DataFrame) -> str:
    """Return what tells the compared points from others of the test case: `` at 10 threads``."""
    of_axis = rows[rows["test_case"].eq(row["test_case"]) & rows["axis"].eq(row["axis"])]
    excluded = {row["axis"], GENERATOR}
    names = [name for name in varying if name not in excluded and len(of_axis[name].unique()) > 1]
    return f" at {at(row, names)}" if names else ""


def _value(row: Row, tables: Tables) -> str:
    """Return both compared values: ``quorum queues against classic queues``."""
    values = (str(row[row["axis"]]), str(row["reference"]))
    return " against ".join(_worded(row["axis"], value, tables) for value in values)


def _worded(axis: str, value: str, tables: Tables) -> str:
    """Return a value with the name of its parameter, so that it is clear without context."""
    if axis == SET:
        return value
    if axis == "queues":
        return labels.kind(value)
    if axis == "topology":
        return labels.topology(value).label
    return system_title(value, tables) if axis == "system" else worded(axis, value)


def _axis_title(axis: str) -> str:
    titles = {"queues": "kind of queue", "generator": "load generator"}
    nouns = {*titles, "topology", "system"}
    return f"the {titles.get(axis, axis)}" if axis in nouns else worded(axis, "").strip()


ANSWERING = Answering("comparison", asked, answer)
