"""The basis of answers: runs, software and machines, and what is uncertain about them."""

from collections.abc import Iterator

import pandas as pd

from mqperf.base.one_line import amount
from mqperf.base.releases import parsed, released
from mqperf.pages.report.words import joined
from mqperf.plan.load import GENERATORS
from mqperf.study.stats.doubt_kinds import CHECKS, WEIGHTS, weight_of
from mqperf.study.tables import Tables, completed
from mqperf.study.tables.axis_words import days, texts

FEW = 3
"""Most reasons of failures that are listed where doubts are counted."""


def measured(tables: Tables) -> str:
    """Return one line: number, length and dates of runs, software and versions, machines."""
    runs = completed(tables["runs"])
    if runs.empty:
        return ""
    parts = [f"{amount(len(runs), 'run')}{_windows(runs)}", days(runs), *_software(runs)]
    parts += _machines(runs, tables["hosts"])
    return f"Measured: {'; '.join(filter(None, parts))}."


def _windows(runs: pd.DataFrame) -> str:
    windows = [f"{seconds:g}" for seconds in sorted(runs["asked_s"].dropna().unique())]
    return f" of {joined(windows)} s" if windows else ""


def _software(runs: pd.DataFrame) -> Iterator[str]:
    for _, of_system in runs.groupby("system", sort=False):
        title = of_system["system_title"].fillna(of_system["system"]).iloc[0]
        versions = sorted(texts(of_system["system_version"]), key=parsed)
        yield released(str(title), joined(versions))
    for name in sorted(texts(runs["generator"])):
        title = GENERATORS[name].title if name in GENERATORS else name
        versions = texts(runs.loc[runs["generator"].eq(name), "generator_version"])
        yield released(title, joined(versions))
    if versions := texts(runs["mqperf_version"]):
        yield f"mqperf {joined(versions)}"


def _machines(runs: pd.DataFrame, hosts: pd.DataFrame) -> Iterator[str]:
    machines = runs[["cpu_model", "cores", "os"]].dropna().drop_duplicates()
    for machine in machines.head(1).to_dict("records"):
        yield f"{machine['cores']} cores of {machine['cpu_model']}, {machine['os']}"
    if len(machines) > 1:
        yield f"{len(machines)} kinds of machine"
    most = hosts.groupby("run")["host"].nunique().max() if len(hosts) else 0
    if most > 1:
        yield f"{most} hosts"


def uncertain(tables: Tables) -> Iterator[str]:
    """Yield a line for each kind of doubt, the weightiest first, with its number of points."""
    doubts, points = tables["doubts"], {*tables["points"]["point"]}
    by_kind = {str(kind): rows for kind, rows in doubts.groupby("kind", sort=False)}
    for kind, rows in sorted(by_kind.items(), key=lambda kind: WEIGHTS.index(weight_of(kind[0]))):
        doubted = {*rows["point"]} & points
        at_points = f"at {len(doubted)} of {amount(len(points), 'point')}"
        where = at_points if doubted else "at no single point"
        finding = CHECKS[kind].finding if kind in CHECKS else str(rows["text"].iloc[0])
        why = _reasons(tables) if kind == "failed-run" else ""
        yield f"{weight_of(kind).capitalize()}: {finding}, {where} ({kind}){why}."


def _reasons(tables: Tables) -> str:
    """Return the reasons of failed attempts, if there are at most ``FEW``."""
    failures = tables["runs"].loc[tables["runs"]["status"].eq("failed"), "failure"]
    reasons = failures.dropna().str.split(": |; ", n=1, regex=True).str[0].unique()
    return f": {joined([*reasons])}" if 0 < len(reasons) <= FEW else ""
