"""What the probes of a run recorded, and what was recorded beside it on other hosts."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from mqperf.probes import atop_log, broker_log, psutil_log
from mqperf.tables.within_run import Window

ATOP = "atop"
"""The folder, beside the run folders, with atop's records of hosts that mqperf does not watch."""


def cpu(folder: Path, facts: Mapping[str, Any], window: Window) -> pd.DataFrame:
    """Rows of the table ``cpu``: of every host with a probe, then of those with a record of atop.

    Such a record is named after the node on that host, ``NODE.txt``.
    """
    kinds = _in_order(facts)
    cores = {host.get("label"): host.get("cores") for host in facts.get("hosts", [])}
    names = {node["name"]: node["label"] for node in facts.get("system", {}).get("nodes", [])}
    frames = [
        psutil_log.read(log, kinds, window, host).assign(cores=cores.get(host))
        for log in _psutil_logs(folder)
        for host in [log.parent.name]
    ]
    frames += [
        atop_log.read(log, names.get(log.stem, log.stem), window)
        for log in sorted((folder.parent / ATOP).glob("*.txt"))
    ]
    return _together(frames)


def network(folder: Path, window: Window) -> pd.DataFrame:
    """Rows of the table ``network``: every interface of every host with a probe."""
    logs = _psutil_logs(folder)
    return _together([psutil_log.read_network(log, window, log.parent.name) for log in logs])


def alarms(folder: Path, window: Window) -> Iterator[dict[str, Any]]:
    """Rows of the table ``events``: what the broker's logs tell of running short."""
    yield from broker_log.alarms(folder / "broker", window[0])


def _psutil_logs(folder: Path) -> list[Path]:
    return sorted((folder / "probes").glob(f"*/{psutil_log.LOG}"))


def _together(frames: list[pd.DataFrame]) -> pd.DataFrame:
    filled = [frame for frame in frames if len(frame)]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame()


def _in_order(facts: Mapping[str, Any]) -> dict[str, str]:
    """Kinds by process, the nodes first as topologies count them: run.json sorts its keys."""
    kinds: dict[str, str] = facts["kinds"]
    nodes = [node["label"] for node in facts.get("system", {}).get("nodes", [])]
    return {label: kinds[label] for label in [*nodes, *kinds] if label in kinds}
