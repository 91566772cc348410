"""The row of a run in the table ``runs``: its plan, environment and outcome."""

import hashlib
from typing import Any

import pandas as pd

from mqperf.onhost.machine.network import LOOPBACK
from mqperf.plan import Case, worded
from mqperf.plan.columns import parameters
from mqperf.plan.load import GENERATORS
from mqperf.record import Facts, HostFacts, Run, SystemFacts
from mqperf.record.totals import ENDS


def run_row(run: Run, facts: Facts) -> dict[str, Any]:
    """The row as a mapping; what an attempt failed too early to record is None or left out."""
    failure = (facts.failure or "no reason recorded") if run.status == "failed" else None
    row: dict[str, Any] = {
        "status": run.status,
        "failure": failure,
        "damaged": ", ".join(run.damaged(facts)) or None,
        "content": _content(facts),
        "condition_failed": facts.condition_failed.words if facts.condition_failed else None,
        "all_sent_s": facts.all_sent.last_s if facts.all_sent else None,
    }
    if (case := facts.case) is not None:
        row |= {
            "case": case.id,
            "generator": case.generator,
            "control_run": case.control_run,
            "green_threads": case.green_threads,
            "load_beside": "; ".join(load.load_words() for load in case.beside()) or None,
            **_parameter_columns(facts, case),
        }
    return row | _measured(facts) | _versions(facts) | _host(facts)


def unreadable_row(facts: Facts | None, reason: str) -> dict[str, Any]:
    """The row of a run that cannot be read: the reason, and of the record only its case."""
    row: dict[str, Any] = {"status": "unreadable", "failure": reason}
    if facts is None or facts.case is None:
        return row
    return row | {"case": facts.case.id, "control_run": facts.case.control_run}


def _parameter_columns(facts: Facts, case: Case) -> dict[str, Any]:
    """The parameters of the run that may vary: of the load, its generator and the system.

    The generator's defaults are those that the run recorded.
    """
    link = case.link.quantities if case.link is not None else {}
    environment = {"condition": case.condition, **link}
    values = {**environment, **case.settings, **case.parameters, **facts.parameters}
    row = {name: worded(values[name]) for name in parameters() if values.get(name) is not None}
    return row | {
        "processes": case.processes,
        "hosts": case.hosts,
        "asked_s": float(case.duration_s),
        "warmup_s": float(case.warmup_s),
        "cooldown_s": float(case.cooldown_s),
        "timeout_s": float(case.timeout_s),
    }


def _content(facts: Facts) -> str | None:
    """A digest of the record of all messages; it differs between any two runs."""
    digests = sorted(
        digest for name, digest in facts.files.items() if name.endswith(tuple(ENDS.values()))
    )
    return hashlib.sha256("".join(digests).encode()).hexdigest() if digests else None


def _measured(facts: Facts) -> dict[str, Any]:
    processes = facts.processes
    row: dict[str, Any] = {
        "order": facts.order.kind,
        "seed": facts.order.seed,
        "position": facts.position,
        "expected": len(processes) if processes else None,
        "reported": sum(process.reported for process in processes) if processes else None,
        "clock_offset_s": facts.clock_offset_s,
    }
    if (window := facts.window) is not None:
        row["window_s"] = window.end - window.start
        row["started"] = pd.Timestamp(window.start, unit="s", tz="UTC")
    return row


def _versions(facts: Facts) -> dict[str, Any]:
    system, generator = facts.system, facts.generator
    registered = GENERATORS.get(facts.case.generator) if facts.case is not None else None
    return {
        "system_title": system.title,
        "system_version": system.version,
        "runtime_version": system.runtime,
        "generator_version": generator.get(registered.release) if registered is not None else None,
        "python_version": generator.get("python"),
        "mqperf_version": facts.mqperf,
    }


def _host(facts: Facts) -> dict[str, Any]:
    host = facts.hosts[0] if facts.hosts else HostFacts()
    names = (
        *("os", "kernel", "cpu_model", "cores", "memory_bytes"),
        *("clock_source", "tcp_congestion_control", "somaxconn", "cpu_governor"),
    )
    return {name: getattr(host, name) for name in names} | _network(facts.system, host)


def _network(system: SystemFacts, host: HostFacts) -> dict[str, Any]:
    """The network card used to reach the brokers; a private cluster uses loopback.

    Empty for an existing cluster if the record does not state the interfaces.
    """
    if system.cluster != "existing":
        return {"network_card": host.network}
    used = {node.interface for node in system.nodes if node.interface is not None}
    if used == {LOOPBACK}:
        return {"network_card": "loopback"}
    cards = [card for card in host.network_cards if card.name in used]
    by_column = {
        "network_card": [card.model or card.name for card in cards],
        "network_driver": [card.driver for card in cards if card.driver],
        "network_speed": [
            f"{card.speed_bits_per_s / 1e9:g} Gbit/s" for card in cards if card.speed_bits_per_s
        ],
    }
    return {name: ", ".join(dict.fromkeys(values)) or None for name, values in by_column.items()}
