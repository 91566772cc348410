"""Growth of throughput with threads, its bottleneck, and its comparison by layout."""

from collections.abc import Iterator

import pandas as pd

from mqperf.base.one_line import amount
from mqperf.pages.questions.question import Answer, Answering
from mqperf.pages.questions.tops_table import table
from mqperf.pages.questions.words import (
    Row,
    bold,
    case_of,
    grouped,
    layout_of,
    listed,
    ranged,
    rate_unit,
    system_title,
)
from mqperf.pages.report import drawings, limits
from mqperf.pages.report.rst import Text
from mqperf.pages.report.tops import findings, higher, tops, why_not
from mqperf.pages.report.words import layouts
from mqperf.plan.pace import OFFERED
from mqperf.plan.test_cases import TEST_CASES, closed_loops
from mqperf.study.stats.decided import decided
from mqperf.study.stats.rules.finding import in_parts, offered
from mqperf.study.stats.rules.window import KEEPS_UP
from mqperf.study.stats.survivors import survivors
from mqperf.study.stats.sustained import FIGURE
from mqperf.study.tables import Tables, varied, where
from mqperf.study.tables.axes import SWEEP


def asked(tables: Tables) -> bool:
    """Return whether no other question applies, nothing is to be decided, and no run has parts."""
    others = ("saturation_rates", "searches", "outages", "factors")
    no_other = all(tables[name].empty for name in others) and decided(tables).empty
    return no_other and not in_parts(tables["runs"]).all()


def answer(tables: Tables) -> Answer | None:
    """Answer with a sentence for each test case: its best layout, and the lowest one."""
    best = tops(tables, layouts(tables["runs"]))
    if best.empty:
        return None
    several = len(tables["points"]["threads"].dropna().unique()) > 1
    limiting, lacking, runs = limits.of_points(tables), survivors(tables), tables["runs"]
    best = best.assign(
        limit=[limiting.get(point, limits.UNKNOWN) for point in best["point"]],
        lacking=[lacking.get(point, "") for point in best["point"]],
        all_came=best["point"].isin(runs.loc[offered(runs).notna(), "point"]) & best["sustained"],
    )
    return Answer(
        question="How far does throughput grow with threads?"
        if several
        else "How high is throughput?",
        sentences=[
            *(_sentence(rows, tables) for rows in _by_case(best)),
            Text.escape(limits.sentence(limiting)),
        ],
        drawing=_drawing(best, tables, several=several),
        table=table(tables, best),
        settle=[*_settle(best, tables)],
    )


def _by_case(best: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield the tops of each test case, the highest first."""
    for case in TEST_CASES:
        if len(rows := where(best, test_case=case)):
            yield rows.sort_values(FIGURE, ascending=False)


def _sentence(rows: pd.DataFrame, tables: Tables) -> Text:
    sound = rows[rows["sound"].astype(bool)]
    return _sound(sound, len(rows) - len(sound), tables) if len(sound) else _unsound(rows)


def _sound(rows: pd.DataFrame, others: int, tables: Tables) -> Text:
    """Describe the best top: its growth, bottleneck and doubts; and name the lowest top."""
    top, last = (rows.iloc[position].to_dict() for position in (0, -1))
    template = "at least **{}**, all that was offered" if top["all_came"] else "**{}**"
    best = Text(template if top["sustained"] else "at most **{}**").format(_rate(top))
    parts = [_first(top, tables) + best + Text(", {}").format(_at(top, tables)), *_remarks(top)]
    if last["point"] != top["point"] and not last["all_came"]:
        rate = ("" if last["sustained"] else "at most ") + _rate(last)
        parts.append(Text("the lowest is {}, with {}").format(rate, layout_of(last, tables)))
    if others:
        parts.append(Text("no sound result for {}").format(amount(others, "other layout")))
    return bold(case_of(top), layout_of(top, tables)) + Text(": {}.").format(Text("; ").join(parts))


def _at(top: Row, tables: Tables) -> str:
    """Return the load of a top; or the number of points, if several finish all that is offered."""
    points = where(tables["points"], **{name: top[name] for name in SWEEP})
    equal_points = int((points[FIGURE] >= top[FIGURE] * (1 - KEEPS_UP)).sum())
    if top["all_came"] and equal_points > 1:
        return f"at {equal_points} of {amount(len(points), 'point')}"
    return f"with {top['at']}"


def _unsound(rows: pd.DataFrame) -> Text:
    """Say why no throughput is sustained, and give the raw maximum."""
    raw = rows.sort_values(f"top_{FIGURE}").iloc[-1].to_dict()
    return bold(case_of(raw)) + Text(
        ": no sound result, because {}; the highest measured is {} {}, with {}, doubted: {}."
    ).format(
        why_not(rows),
        grouped(raw[f"top_{FIGURE}"]),
        rate_unit(raw),
        ", ".join(filter(None, [raw["top_at"], raw["top_label"] if len(rows) > 1 else ""])),
        ", ".join(raw["top_doubts"]),
    )


def _rate(top: Row) -> str:
    ends = (top[f"{FIGURE}_low"], top[f"{FIGURE}_high"])
    return ranged(top[FIGURE], ends, rate_unit(top))


def _first(top: Row, tables: Tables) -> Text:
    """Return the throughput with the fewest threads: ``from 360 with 1 thread to``."""
    points = where(tables["points"], **{name: top[name] for name in SWEEP}).dropna(subset=[FIGURE])
    first = points.sort_values("threads").iloc[0]
    if varied(points) or first["threads"] == top["threads"]:
        return Text()
    threads = amount(int(first["threads"]), "thread")
    doubts = ", ".join(findings(tables["doubts"], first["point"]))
    rate = grouped(first[FIGURE]) + (f" (doubted: {doubts})" if doubts else "")
    return Text("from {} with {} to ").format(rate, threads)


def _remarks(top: Row) -> Iterator[str]:
    """Yield bottleneck, note on survivors' latency, doubts, and a raw maximum that is higher."""
    limit = str(top["limit"]).partition(":")[0]
    if limit not in {limits.UNKNOWN, limits.DIFFERS, "none"} and not top["all_came"]:
        yield f"{limits.LIMITS[limit]} is the limit there"
    if top["lacking"]:
        yield top["lacking"]
    if top["doubts"]:
        yield f"doubted: {', '.join(top['doubts'])}"
    if higher(top):
        maximum = f"{grouped(top[f'top_{FIGURE}'])} {rate_unit(top)} with {top['top_at']}"
        doubts = ", ".join(top["top_doubts"])
        yield f"a higher throughput of {maximum} was measured, but is in doubt: {doubts}"


def _drawing(best: pd.DataFrame, tables: Tables, *, several: bool) -> drawings.Drawing:
    if several and len(best["system"].unique()) == 1:
        doubted = {*tables["doubts"]["point"].dropna()}
        return drawings.topologies("Throughput", tables["points"], best, doubted)
    if len(best["system"].unique()) > 1:
        titles = [system_title(system, tables) for system in best["system"]]
        best = best.assign(label=pd.Series(titles, best.index) + ": " + best["label"])
    return drawings.tops("Top throughput", best)


def _settle(best: pd.DataFrame, tables: Tables) -> Iterator[Text]:
    """Advise to offer rates, where clients flooded the system without waiting for messages."""
    if {*OFFERED} & {*tables["runs"].columns}:
        return
    flooded = best[~best["sound"].astype(bool) & ~best["test_case"].isin(closed_loops())]
    if len(flooded):
        cases = listed(dict.fromkeys(TEST_CASES[name].short for name in flooded["test_case"]))
        yield Text(
            "The clients sent {} as fast as they could: a staircase of offered rates (*rate_msg_s*,"
            " *ramp_to_msg_s*, *ramp_steps*) would find the sustained rate."
        ).format(cases)


ANSWERING = Answering("scaling", asked, answer)
