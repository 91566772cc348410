"""Rules over a set of runs: they do not overlap, are no copies, and were made on one machine."""

from collections.abc import Iterator, Sequence
from itertools import chain

import pandas as pd

from mqperf.plan.columns import OF_SYSTEM, VERSIONS
from mqperf.study.stats.rules.finding import Finding, each
from mqperf.study.tables import Tables
from mqperf.study.tables.axis_words import titled
from mqperf.study.tables.hosts import made_on

MACHINE = (
    *("cpu_model", "cores", "memory_bytes", "os", "kernel", "clock_source", "cpu_governor"),
    *("tcp_congestion_control", "somaxconn"),
)
"""Columns of ``runs`` that are facts of the machine."""

NETWORK = ("network_card", "network_driver", "network_speed")
"""Columns of ``runs`` about the network to the brokers, which may differ between systems."""

Fact = str | int
"""A recorded fact about the machine of a run, or about a version."""

ASKED = ("version", "home", "erlang", "redis")
"""Settings by which a plan chooses the version of a system, or of its runtime."""

VARIED = {OF_SYSTEM: ASKED, ("generator_version",): ("generator",)}
"""Groups of version columns that a plan may vary -> the settings by which it does."""

GIB = 2**30

RESERVED = 0.01
"""Share of its memory by which one machine may differ after a restart: the kernel reserves some."""


def overlapping_runs(tables: Tables) -> Iterator[Finding]:
    """Runs whose load began before the load of the previous run had ended."""
    frame = _done(tables).dropna(subset=["started", "window_s"])
    # copies are left to the rule copied_run
    frame = frame[frame["content"].isna() | ~frame["content"].duplicated()]
    start = frame["started"] - _seconds(frame["warmup_s"].fillna(0.0))
    end = frame["started"] + _seconds(frame["window_s"] + frame["cooldown_s"].fillna(0.0))
    frame = frame.assign(begin=start, finish=end).sort_values("begin", kind="stable")
    previous = None
    for row in each(frame):
        if previous is not None and row.begin < previous.finish:
            shared_s = (previous.finish - row.begin).total_seconds()
            yield Finding(
                row.run,
                f"its load began {shared_s:.1f} s before that of {previous.run} had ended: they"
                " took CPU from each other, or one of them was copied from another set",
                {"other": previous.run, "seconds": round(shared_s, 3)},
            )
        if previous is None or row.finish > previous.finish:
            previous = row


def copied_run(tables: Tables) -> Iterator[Finding]:
    """Runs whose recorded messages are, to the byte, those of another folder."""
    frame = _done(tables).dropna(subset=["content"])
    for content, runs in frame.groupby("content", sort=False):
        first, *others = runs["run"]
        for run in others:
            yield Finding(
                run,
                f"its recorded messages are identical to those of {first}: one of the folders is a"
                " copy, and must not be counted",
                {"other": first, "content": str(content)},
            )


def mixed_hosts(tables: Tables) -> Iterator[Finding]:
    """Runs made on other hosts than most of the set, or on another network than their system."""
    done = _done(tables)
    hosts = done["run"].map(made_on(tables["hosts"]))
    yield from _unlike(done.assign(host=hosts), (*MACHINE, "host"))
    for _, runs in done.groupby("system", sort=False):
        yield from _unlike(runs, NETWORK)


def mixed_versions(tables: Tables) -> Iterator[Finding]:
    """Runs made with other versions than most runs of the same system.

    Where the plan varies the version of the system, or the load generator, versions are compared
    among runs with the same setting, or the same generator.
    """
    for _, runs in _done(tables).groupby("system", sort=False):
        names = [name for name in chain(*VARIED.values()) if name in runs]
        several = {name for name in names if len(runs[name].unique()) > 1}
        varied = {of: used for of, by in VARIED.items() if (used := [*several.intersection(by)])}
        yield from _unlike(runs, [name for name in VERSIONS if name not in chain(*varied)])
        for versions, settings in varied.items():
            for _, same_settings in runs.groupby(settings, sort=False, dropna=False):
                yield from _unlike(same_settings, versions)


def _done(tables: Tables) -> pd.DataFrame:
    runs = tables["runs"]
    return runs[runs["status"] == "done"]


def _seconds(values: pd.Series) -> pd.Series:
    return pd.to_timedelta(values.astype(float), unit="s")


def _unlike(runs: pd.DataFrame, columns: Sequence[str]) -> Iterator[Finding]:
    """A finding for each run that differs from the most frequent value, in a tie the first of them.

    A fact that a run does not record is no difference.
    """
    usual = {name: value for name in columns if (value := _usual(runs[name])) is not None}
    for row in each(runs):
        facts = {name: getattr(row, name) for name in usual}
        unlike = {name: facts[name] for name in usual if _differs(name, facts[name], usual[name])}
        if unlike:
            listing = "; ".join(
                f"{_titled(name)} {_value(name, value)}, in most runs {_value(name, usual[name])}"
                for name, value in unlike.items()
            )
            yield Finding(row.run, listing, {name: str(value) for name, value in unlike.items()})


def _usual(values: pd.Series) -> Fact | None:
    counts = values.dropna().value_counts(sort=False)
    return None if counts.empty else counts.index[int(counts.to_numpy().argmax())]


def _differs(name: str, value: Fact, usual: Fact) -> bool:
    if pd.isna(value):
        return False
    if name == "memory_bytes":
        return abs(float(value) / float(usual) - 1) > RESERVED
    return value != usual


def restarted(*sides: pd.DataFrame) -> bool:
    """Whether runs of all sides had the same memory, apart from what a kernel reserves."""
    sizes = [runs["memory_bytes"].dropna().astype(float) for runs in sides]
    return all(map(len, sizes)) and max(map(max, sizes)) <= min(map(min, sizes)) * (1 + RESERVED)


def _titled(name: str) -> str:
    """The title of a fact, with the unit of ``_value``."""
    return f"{titled(name)}, GiB" if name == "memory_bytes" else titled(name)


def _value(name: str, value: object) -> str:
    return f"{int(str(value)) / GIB:.3f}" if name == "memory_bytes" else str(value)
