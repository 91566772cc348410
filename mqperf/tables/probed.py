"""What the probes of a run recorded, and what was recorded beside it on other hosts."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from mqperf.errors import MqperfError, ProbeError
from mqperf.probes import atop_log, broker_log, psutil_log
from mqperf.record import Facts, Whole
from mqperf.tables.within_run import Window

ATOP = "atop"
"""The folder, beside the run folders, with atop's records of hosts that mqperf does not watch."""

Logs = Mapping[Path, Sequence[psutil_log.Sample]]
"""The log of the psutil probe on each host -> its samples."""


def logs(run: Whole) -> Logs:
    """What the psutil probe recorded on each host of a whole run.

    Raises ``ProbeError`` for a log that is damaged, of a host that the run does not know, or when
    the processes in the logs are not those that the run watched.
    """
    files = sorted((run.run.path / "probes").glob(f"*/{psutil_log.LOG}"))
    found = {file: psutil_log.samples(file) for file in files}
    for file, samples in found.items():
        _check_host(run.facts, file)
        if abs(step := psutil_log.clock_step_s(samples)) > psutil_log.CLOCK_STEP_LIMIT_S:
            raise ProbeError(f"{file}: the wall clock was set by {step:+.3f} s during the run")
    _check_processes(run, found)
    return found


def cpu(run: Whole, found: Logs) -> pd.DataFrame:
    """Rows of the table ``cpu``: of every host with a probe, then of those with a record of atop.

    Such a record is named after the node on that host, ``NODE.txt``.
    """
    kinds = _in_order(run.facts)
    cores = {host.label: host.cores for host in run.facts.hosts}
    frames = [
        psutil_log.read(samples, kinds, run.window, host).assign(cores=cores.get(host))
        for file, samples in found.items()
        for host in [file.parent.name]
    ]
    return _together([*frames, *(frame for _, frame in _elsewhere(run) if frame is not None)])


def unread(run: Whole) -> Iterator[dict[str, Any]]:
    """Rows of the table ``events``: records of atop beside the run that cannot be read."""
    for row, frame in _elsewhere(run):
        if frame is None:
            yield row


def network(run: Whole, found: Logs) -> pd.DataFrame:
    """Rows of the table ``network``: every interface of every host with a probe."""
    return _together(
        [
            psutil_log.read_network(samples, run.window, file.parent.name)
            for file, samples in found.items()
        ]
    )


def alarms(folder: Path, window: Window) -> Iterator[dict[str, Any]]:
    """Rows of the table ``events``: what the broker's logs tell of running short."""
    yield from broker_log.alarms(folder / "broker", window[0])


def _elsewhere(run: Whole) -> Iterator[tuple[dict[str, Any], pd.DataFrame | None]]:
    """What atop recorded of each node; where it cannot be read, no frame, and a row that says why.

    Such a record is of many runs, all else of which stands without it.
    """
    names = {node.name: node.label for node in run.facts.system.nodes}
    beside = run.run.path.parent
    for log in sorted((beside / ATOP).glob("*.txt")):
        label = names.get(log.stem, log.stem)
        try:
            yield {}, atop_log.read(log, label, run.window)
        except MqperfError as error:
            reason = str(error).replace(f"{beside}/", "")
            detail = json.dumps({"reason": reason}, ensure_ascii=False)
            yield {"time_s": None, "host": label, "what": "unread", "detail": detail}, None


def _check_host(facts: Facts, file: Path) -> None:
    hosts = [host.label for host in facts.hosts]
    if hosts and file.parent.name not in hosts:
        raise ProbeError(f"{file}: run.json knows no host {file.parent.name}")


def _check_processes(run: Whole, found: Logs) -> None:
    watched = {
        label: file for file, samples in found.items() for s in samples[:1] for label in s.processes
    }
    for label, file in watched.items():
        if label not in run.facts.kinds:
            raise ProbeError(f"{file}: run.json does not say of which kind process {label} is")
    if missing := [label for label in run.facts.kinds if label not in watched]:
        place = run.run.path / "probes"
        raise ProbeError(f"{place}: no log of the psutil probe knows process {missing[0]}")
    for file, samples in found.items():
        _check_nodes(run, file, [*samples[0].processes] if samples else [])


def _check_nodes(run: Whole, file: Path, watched: list[str]) -> None:
    """The nodes that were watched on a host are some of the system's, in its order.

    The probe writes no process ids: labels that were exchanged show in their order.
    """
    nodes = [node.label for node in run.facts.system.nodes]
    brokers = [label for label in watched if run.facts.kinds.get(label) == "broker"]
    if nodes and brokers != [label for label in nodes if label in brokers]:
        raise ProbeError(
            f"{file}: the psutil probe watched {', '.join(brokers)}; run.json has system.nodes"
            f" {', '.join(nodes)}"
        )


def _together(frames: list[pd.DataFrame]) -> pd.DataFrame:
    filled = [frame for frame in frames if len(frame)]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame()


def _in_order(facts: Facts) -> dict[str, str]:
    """Kinds by process, the nodes first as topologies count them: run.json sorts its keys."""
    kinds = facts.kinds
    nodes = [node.label for node in facts.system.nodes]
    return {label: kinds[label] for label in [*nodes, *kinds] if label in kinds}
