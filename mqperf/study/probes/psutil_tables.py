"""The psutil probe in tables: CPU and memory of processes and hosts, traffic of interfaces."""

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
"""The log on each host -> its samples."""

Readings = Sequence[tuple[float, float]]
"""Instants, and seconds of CPU that a process had used until then."""


APART_S = 0.9
"""A probe that begins so long before or after the load is of another one, or its clock is."""


def read(run: Whole) -> Mapping[str, pd.DataFrame]:
    """Rows of the tables ``cpu``, ``network`` and ``memory``: of every host with a probe.

    Raises ``ProbeError`` for a log that is damaged, of a host that the run does not know, or when
    the processes in the logs are not those that the run watched.
    """
    files = logs(run)
    kinds, several = _in_order(run.facts), len(run.facts.hosts) > 1
    cores = {host.label: host.cores for host in run.facts.hosts}
    ended = {action.target for action in run.case.actions}
    tables: Mapping[str, list[pd.DataFrame]] = {"cpu": [], "network": [], "memory": []}
    for file, log in files.items():
        host = file.parent.name
        used = psutil_rows.cpu(log, kinds, run.window, host, ended)
        named = _named(used, host, several=several).assign(cores=cores.get(host))
        tables["cpu"].append(named)
        tables["network"].append(psutil_rows.network(log, run.window, host))
        tables["memory"].append(psutil_rows.memory(log, run.window, host))
    return {name: pd.concat(parts or [pd.DataFrame()]) for name, parts in tables.items()}


def _named(cpu: pd.DataFrame, host: str, *, several: bool) -> pd.DataFrame:
    """The rows with the host's own called after it where there are several."""
    if cpu.empty or not several:
        return cpu
    return cpu.assign(process=cpu["process"].mask(cpu["kind"] == "host", f"host {host}"))


def counted(samples: Sequence[psutil_log.Sample], label: str, ahead_s: float) -> Readings:
    """What a process used, at instants so far ahead; nothing of one that was gone at some time."""
    readings = []
    for sample in samples:
        if (reading := sample.processes.get(label)) is None:
            return ()
        at = sample.epoch + ahead_s + reading[0] - sample.monotonic
        readings.append((at, reading[1] + reading[2]))
    return readings


def fastest(readings: Readings) -> float:
    """The most cores that were used between two readings."""
    return max((b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(readings))


def disagreements(run: Whole) -> Iterator[str]:
    """Probes that began at another instant than the load, a loopback that loses, other actions."""
    yield from psutil_actions.disagreements(run, [*logs(run).values()])
    for file, samples in logs(run).items():
        name = file.relative_to(run.run.path)
        delay_s = samples[0].epoch - run.load[0] if samples else 0.0
        if abs(delay_s) > APART_S + run.clock(file.parent.name).uncertainty_s:
            yield f"{name}: begins {delay_s:+.1f} s from the load"
        counted = (
            sample.network.bytes.get(LOOPBACK, (0, 0)) for sample in samples if sample.network
        )
        for sent, received in counted:
            if sent != received:
                yield f"{name}: {sent} bytes sent over {LOOPBACK}, {received} received"
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
    watched = {
        label: file for file, samples in files.items() for s in samples[:1] for label in s.processes
    }
    for label, file in watched.items():
        if label not in run.facts.kinds:
            raise ProbeError(f"{file}: run.json does not say of which kind process {label} is")
    if missing := [label for label in run.facts.kinds if label not in watched]:
        place = run.run.path / "probes"
        raise ProbeError(f"{place}: no log of the psutil probe knows process {missing[0]}")
    for file, samples in files.items():
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


def _in_order(facts: Facts) -> dict[str, str]:
    """Kinds by process, the nodes first as topologies count them: run.json sorts its keys."""
    kinds = facts.kinds
    nodes = [node.label for node in facts.system.nodes]
    return {label: kinds[label] for label in [*nodes, *kinds] if label in kinds}


READER = ProbeReader("psutil", read=read, disagreements=disagreements)
