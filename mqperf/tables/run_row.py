"""The row of a run in the table ``runs``: what was planned, on what, and what became of it."""

import hashlib
from collections.abc import Mapping
from typing import Any

import pandas as pd

from mqperf.plan import Case
from mqperf.record import Run

MESSAGES = ".messages"
"""How the files end that hold the instants of all messages."""

LOOPBACK = "lo"


def run_row(run: Run, facts: Mapping[str, Any], case: Case | None) -> dict[str, Any]:
    """The row as a mapping; what an attempt died too early to record is None, or left out."""
    failure = facts.get("failure", "no reason recorded") if run.status == "failed" else None
    row: dict[str, Any] = {
        "status": run.status,
        "failure": failure,
        "damaged": ", ".join(run.damaged()) or None,
        "content": _content(facts),
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


def _content(facts: Mapping[str, Any]) -> str | None:
    """One digest of the instants of all messages, as recorded: no two runs share them."""
    files: Mapping[str, str] = facts.get("files") or {}
    digests = sorted(digest for name, digest in files.items() if name.endswith(MESSAGES))
    return hashlib.sha256("".join(digests).encode()).hexdigest() if digests else None


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
    return {name: host.get(name) for name in names} | _network(facts.get("system", {}), host)


def _network(system: Mapping[str, Any], host: Mapping[str, Any]) -> dict[str, Any]:
    """The card by which the brokers were reached; a private cluster is on loopback.

    Nothing is said of a cluster elsewhere whose record does not tell the way to it.
    """
    if system.get("cluster") != "existing":
        return {"network_card": host.get("network")}
    used = {str(node.get("interface")) for node in system.get("nodes", [])} - {"None"}
    if used == {LOOPBACK}:
        return {"network_card": "loopback"}
    cards = [card for card in host.get("network_cards", []) if card.get("name") in used]
    speeds = [card["speed_bits_per_s"] for card in cards if card.get("speed_bits_per_s")]
    told = {
        "network_card": [card.get("model") or card["name"] for card in cards],
        "network_driver": [card["driver"] for card in cards if card.get("driver")],
        "network_speed": [f"{speed / 1e9:g} Gbit/s" for speed in speeds],
    }
    return {name: ", ".join(dict.fromkeys(values)) or None for name, values in told.items()}
