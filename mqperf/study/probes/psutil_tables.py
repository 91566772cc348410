"""Read the psutil probe: CPU and memory of processes and hosts, traffic of interfaces."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import pandas as pd

from mqperf.base.errors import ProbeError
from mqperf.onhost.machine.network import LOOPBACK
from mqperf.record import CLOCK_STEP_LIMIT_S, Facts, Whole
from mqperf.record.logs import psutil_log
from mqperf.study.probes import psutil_actions, psutil_rows
from mqperf.study.probes.reader import ProbeReader

Logs = Mapping[Path, Sequence[psutil_log.Sample]]
"""The log of each host -> its samples."""

Readings = Sequence[tuple[float, float]]
"""Pairs of an instant and the CPU seconds that a process had used by then."""


APART_S = 0.9
"""Most seconds between the starts of load and probe; if more, the log or a clock is wrong."""


def read(run: Whole) -> Mapping[str, pd.DataFrame]:
    """Rows of the tables ``cpu``, ``network`` and ``memory`` for every host with a probe.

    Raises ``ProbeError`` for a log that is damaged or of a host that the run does not know, or when
    the processes in the logs are not those that the run monitored.
    """
    files = logs(run)
    kinds, several = _in_order(run.facts), len(run.facts.hosts) > 1
    cores = {host.label: host.cores for host in run.facts.hosts}
    ended = {action.target for action in run.case.actions}
    tables: Mapping[str, list[pd.DataFrame]] = {"cpu": [], "network": [], "memory": []}
    for file, log in files.items():
        host = file.parent.name
        cpu = psutil_rows.cpu(log, kinds, run.window, host, ended)
        cpu = _with_host_name(cpu, host, several=several).assign(cores=cores.get(host))
        tables["cpu"].append(cpu)
        tables["network"].append(psutil_rows.network(log, run.window, host))
        tables["memory"].append(psutil_rows.memory(log, run.window, host))
    return {name: pd.concat(frames or [pd.DataFrame()]) for name, frames in tables.items()}


def _with_host_name(cpu: pd.DataFrame, host: str, *, several: bool) -> pd.DataFrame:
    """The rows, with the label ``host NAME`` for the host's own row if there are several hosts."""
    if cpu.empty or not several:
        return cpu
    return cpu.assign(process=cpu["process"].mask(cpu["kind"] == "host", f"host {host}"))


def counted(samples: Sequence[psutil_log.Sample], label: str, ahead_s: float) -> Readings:
    """CPU readings of a process, shifted by ``ahead_s``; empty if it was missing at some time."""
    readings = []
    for sample in samples:
        if (reading := sample.processes.get(label)) is None:
            return ()
        at = sample.epoch + ahead_s + reading[0] - sample.monotonic
        readings.append((at, reading[1] + reading[2]))
    return readings


def fastest(readings: Readings) -> float:
    """The most cores used between two successive readings."""
    return max((b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(readings))


def disagreements(run: Whole) -> Iterator[str]:
    """Yield probes not started with the load, lossy loopbacks, and contradicted actions."""
    yield from psutil_actions.disagreements(run, [*logs(run).values()])
    for file, samples in logs(run).items():
        log = file.relative_to(run.run.path)
        delay_s = samples[0].epoch - run.load[0] if samples else 0.0
        if abs(delay_s) > APART_S + run.clock(file.parent.name).uncertainty_s:
            yield f"{log}: begins {delay_s:+.1f} s from the load"
        loopback_bytes = (
            sample.network.bytes.get(LOOPBACK, (0, 0)) for sample in samples if sample.network
        )
        for sent, received in loopback_bytes:
            if sent != received:
                yield f"{log}: {sent} bytes sent over {LOOPBACK}, {received} received"
                break


@lru_cache(maxsize=1)  # all readers are called with the same run, one after the other
def logs(run: Whole) -> Logs:
    """The samples of every log, by the clock of the controller; raises as ``read`` does.

    Hosts are in the order of the run: that of brokers is Master, Slave 1, Slave 2.
    """
    places = {host.label: number for number, host in enumerate(run.facts.hosts)}
    paths = sorted(
        (run.run.path / "probes").glob(f"*/{psutil_log.LOG}"),
        key=lambda file: (places.get(file.parent.name, len(places)), file),
    )
    files = {
        file: psutil_log.by_clock(psutil_log.samples(file), run.clock(file.parent.name).offset_s)
        for file in paths
    }
    for file, samples in files.items():
        _check_host(run.facts, file)
        if abs(step := psutil_log.clock_step_s(samples)) > CLOCK_STEP_LIMIT_S:
            raise ProbeError(f"{file}: the wall clock was set by {step:+.3f} s during the run")
    _check_processes(run, files)
    return files


def _check_host(facts: Facts, file: Path) -> None:
    hosts = [host.label for host in facts.hosts]
    if hosts and file.parent.name not in hosts:
        raise ProbeError(f"{file}: run.json knows no host {file.parent.name}")


def _check_processes(run: Whole, files: Logs) -> None:
    monitored = {
        label: file for file, samples in files.items() for s in samples[:1] for label in s.processes
    }
    for label, file in monitored.items():
        if label not in run.facts.kinds:
            raise ProbeError(f"{file}: run.json does not say of which kind process {label} is")
    if missing := [label for label in run.facts.kinds if label not in monitored]:
        folder = run.run.path / "probes"
        raise ProbeError(f"{folder}: no log of the psutil probe knows process {missing[0]}")
    for file, samples in files.items():
        _check_nodes(run, file, [*samples[0].processes] if samples else [])


def _check_nodes(run: Whole, file: Path, monitored: list[str]) -> None:
    """Raise ``ProbeError`` unless the monitored nodes of a host are in the order of the system's.

    The probe writes no process ids: only their order reveals swapped labels.
    """
    nodes = [node.label for node in run.facts.system.nodes]
    brokers = [label for label in monitored if run.facts.kinds.get(label) == "broker"]
    if nodes and brokers != [label for label in nodes if label in brokers]:
        raise ProbeError(
            f"{file}: the psutil probe watched {', '.join(brokers)}; run.json has system.nodes"
            f" {', '.join(nodes)}"
        )


def _in_order(facts: Facts) -> dict[str, str]:
    """Process -> kind, the nodes first, in topology order: run.json sorts its keys."""
    kinds = facts.kinds
    nodes = [node.label for node in facts.system.nodes]
    return {label: kinds[label] for label in [*nodes, *kinds] if label in kinds}


READER = ProbeReader("psutil", read=read, disagreements=disagreements)
