"""The table ``quotas``: in how many periods of the window a group had used up its CPU."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mqperf.plan.columns import Column, Table, count, seconds, share, text
from mqperf.study.probes import ProbeReader
from mqperf_capacity.plan.quotas import Quotas
from mqperf_capacity.record.quota_log import LOG, Sample, samples
from mqperf_diagnosis.study.samples import in_window

if TYPE_CHECKING:
    from mqperf.study.tables.of_run import Reading


def rows(reading: "Reading") -> Iterator[dict[str, Any]]:
    """One row per group with a quota of CPU on a host."""
    for host, within in in_window(reading.run, LOG, samples):
        quotas = _quotas(reading, host)
        for group in within[0].groups if within else ():
            yield {"host": host, "group": group, **_limits(quotas, group), **_counts(within, group)}


def _counts(within: list[Sample], group: str) -> dict[str, Any]:
    first, last = (sample.groups.get(group, (0, 0, 0.0)) for sample in (within[0], within[-1]))
    periods, throttled, waited_s = (
        after - before for before, after in zip(first, last, strict=True)
    )
    return {
        "quota_periods": periods,
        "throttled_periods": throttled,
        "throttled_share": throttled / periods if periods else 0.0,
        "throttled_s": waited_s,
    }


def _quotas(reading: "Reading", host: str) -> Quotas:
    """The quotas of a host as it recorded them."""
    for facts in reading.run.facts.hosts:
        if facts.label == host and isinstance(
            given := (facts.model_extra or {}).get("quotas"), dict
        ):
            return Quotas.model_validate(given)
    return Quotas()


def _limits(quotas: Quotas, group: str) -> dict[str, Any]:
    role = group.partition(" ")[0]
    given = quotas.of(role) if role in {"broker", "client", "server"} else {}
    return {"quota_cores": given.get("cores"), "quota_memory_bytes": given.get("memory_bytes")}


READER = ProbeReader("quotas")

TABLE = Table(
    name="quotas",
    row="a group of processes with a quota of CPU on a host of a run, over the window",
    own=(
        "host",
        text("group", "Whose quota it is: broker and the node's label, client, or server."),
        Column(
            "quota_cores",
            "float64",
            "Cores that it may use, by the run's own record.",
            "CPU quota",
            "cores",
            check="positive",
        ),
        Column(
            "quota_memory_bytes",
            "Int64",
            "Memory that it may use; empty where that is not limited.",
            "memory quota",
            "bytes",
            "MiB",
            2**-20,
            "positive",
        ),
        count(
            "quota_periods",
            "Periods of the quota (0.1 s each) in which it was on a processor.",
            "periods",
            unit="",
        ),
        count(
            "throttled_periods",
            "Periods in which it had used up its quota, and waited for the next.",
            "throttled periods",
            unit="",
        ),
        share("throttled_share", "Share of the periods in which it waited.", "throttled"),
        seconds(
            "throttled_s",
            "Time in which its processes waited for the next period, summed over processors.",
            "waited",
            "not negative",
        ),
    ),
    rows=rows,
)
