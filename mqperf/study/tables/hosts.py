"""The tables ``hosts``, with clock offsets to the controller, and ``links``, of a run."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import pandas as pd

from mqperf.plan import Case
from mqperf.plan.columns import COLUMNS, measured_column
from mqperf.record import Event, Facts
from mqperf.record.facts import ClockFacts, NetworkCard

FACT_COLUMNS = (
    *("os", "kernel", "cpu_model", "cores", "memory_bytes", "clock_source", "machine"),
    "tcp_congestion_control",
)
"""Columns with the fact of the same name."""


def hosts(facts: Facts, events: Sequence[Event]) -> Iterator[dict[str, Any]]:
    """A row for each host that has a name."""
    between_s = _between_s(facts, events)
    for host in facts.hosts:
        if host.label is None:
            continue
        synchronised = None if host.kernel_clock is None else host.kernel_clock.synchronised
        row = {
            "host": host.label,
            "roles": ", ".join(host.roles) or None,
            **{name: getattr(host, name) for name in FACT_COLUMNS},
            "network_cards": ", ".join(map(_card, host.network_cards)) or host.network,
            "clock_synchronised": None if synchronised is None else "yes" if synchronised else "no",
        }
        if (clock := facts.clocks.get(host.label)) is not None:
            row |= _clock(clock) | {"clock_between_s": between_s}
        yield row


def made_on(rows: pd.DataFrame) -> pd.Series:
    """The hosts of each run with their roles as text; a single host is given without roles."""
    by_run: dict[str, str] = {}
    for run, rows_of_run in rows.groupby("run", sort=False):
        single = len(rows_of_run) == 1
        hosts_with_roles = [
            host if single or pd.isna(roles) else f"{host} ({roles})"
            for host, roles in zip(rows_of_run["host"], rows_of_run["roles"], strict=True)
        ]
        by_run[str(run)] = ", ".join(hosts_with_roles)
    return pd.Series(by_run, dtype="string")


def _clock(clock: ClockFacts) -> dict[str, Any]:
    row: dict[str, Any] = {"clock_uncertainty_s": clock.uncertainty_s}
    for when, offset in (("before", clock.before), ("after", clock.after)):
        if offset is not None:
            row |= {f"clock_offset_{when}_s": offset.offset_s}
            row |= {f"clock_bound_{when}_s": offset.bound_s}
    return row


def _between_s(facts: Facts, events: Sequence[Event]) -> float | None:
    """Seconds from the first event of the run to its end."""
    try:
        end = datetime.fromisoformat(facts.stopped or "").timestamp()
    except ValueError:
        return None
    return max(end - events[0].epoch, 0.0) if events else None


def _card(card: NetworkCard) -> str:
    """``eth0 (veth, 10 Gbit/s)``."""
    speed = card.speed_bits_per_s
    details = [card.model, card.driver, None if speed is None else f"{speed / 1e9:g} Gbit/s"]
    text = ", ".join(dict.fromkeys(detail for detail in details if detail))
    return f"{card.name} ({text})" if text else card.name


def links(case: Case, facts: Facts) -> Iterator[dict[str, Any]]:
    """The row of a run whose plan has a link, even if the run recorded nothing about it."""
    if case.link is None:
        return
    row = {"between": ", ".join(case.link.between), "backend": None, **case.link.quantities}
    if facts.link is not None:
        counted = {f"packets_{name}": number for name, number in facts.link.packets.items()}
        row |= {name: counted[name] for name in counted if name in COLUMNS}
        row["backend"] = facts.link.backend
    for when in ("before", "after"):
        measured = getattr(facts.link, when, None)
        for name in case.link.quantities if measured is not None else ():
            row[measured_column(name, when)] = getattr(measured, name)
    yield row
