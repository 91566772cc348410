"""The row of a run in the table ``runs``: what was planned, on what, and what became of it."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from mqperf.plan import Case
from mqperf.record import Run


def run_row(run: Run, facts: Mapping[str, Any], case: Case | None) -> dict[str, Any]:
    """The row as a mapping; what an attempt died too early to record is None, or left out."""
    failure = facts.get("failure", "no reason recorded") if run.status == "failed" else None
    row: dict[str, Any] = {
        "status": run.status,
        "failure": failure,
        "damaged": ", ".join(run.damaged()) or None,
    }
    if case is not None:
        row |= {
            "green_threads": case.green_threads,
            "processes": case.processes,
            "hosts": case.hosts,
            "asked_s": float(case.duration_s),
            "warmup_s": float(case.warmup_s),
            "cooldown_s": float(case.cooldown_s),
            "timeout_s": float(case.timeout_s),
            "targets": case.targets,
            "sentinel": case.sentinel,
        }
    return row | _measured(facts) | _versions(facts) | _host(facts)


def _measured(facts: Mapping[str, Any]) -> dict[str, Any]:
    processes = facts.get("processes", [])
    offsets = facts.get("clock_offsets_s", {}).values()
    order = facts.get("order", {})
    row: dict[str, Any] = {
        "order": order.get("kind"),
        "seed": order.get("seed"),
        "position": facts.get("position"),
        "expected": len(processes) if processes else None,
        "reported": sum(p["reported"] for p in processes) if processes else None,
        "clock_offset_s": max(map(abs, offsets), default=None),
    }
    if window := facts.get("window"):
        row["window_s"] = window["end"] - window["start"]
        row["started"] = pd.Timestamp(window["start"], unit="s", tz="UTC")
    return row


def _versions(facts: Mapping[str, Any]) -> dict[str, Any]:
    system, generator = facts.get("system", {}), facts.get("generator", {})
    return {
        "system_title": system.get("title"),
        "system_version": system.get("version"),
        "runtime_version": system.get("runtime"),
        "generator_version": generator.get("oslo.messaging"),
        "python_version": generator.get("python"),
        "mqperf_version": facts.get("mqperf"),
    }


def _host(facts: Mapping[str, Any]) -> dict[str, Any]:
    hosts: list[dict[str, Any]] = facts.get("hosts", [])
    host = hosts[0] if hosts else {}
    names = (
        *("os", "kernel", "cpu_model", "cores", "memory_bytes"),
        *("clock_source", "tcp_congestion_control", "somaxconn", "cpu_governor"),
    )
    return {name: host.get(name) for name in names} | {"network_card": host.get("network")}
