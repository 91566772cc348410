"""The probe's sampler: CPU use of a machine, computed from idle time."""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from mqperf.onhost.probes import psutil_sampler

SAMPLED = {"nice": 0.0, "irq": 0.0, "softirq": 0.0}


def counters(*rows: tuple[float, float, float, float, float, float]) -> Iterator[SimpleNamespace]:
    """Kernel counters at an instant: cumulated user, system, idle, iowait and steal seconds."""
    for at, user, system, idle, iowait, steal in rows:
        times = {"user": user, "system": system, "idle": idle, "iowait": iowait, "steal": steal}
        yield SimpleNamespace(at=at, times=SimpleNamespace(**times, **SAMPLED))


@pytest.fixture
def kernel_counters(monkeypatch: pytest.MonkeyPatch) -> list[SimpleNamespace]:
    """Counters of two processors whose tick-based user time far exceeds what idle time leaves."""
    rows = [
        *counters((0, 0, 0, 0, 0, 0), (1, 0.9, 0.2, 1.7, 0.1, 0.1), (2, 1.8, 0.2, 3.71, 0.1, 0.2))
    ]
    current = iter(rows)
    now = [rows[0]]

    def times() -> SimpleNamespace:
        now[0] = next(current)
        return SimpleNamespace(**vars(now[0].times))

    monkeypatch.setattr(psutil, "cpu_times", times)
    monkeypatch.setattr(psutil, "cpu_count", lambda: 2)
    monkeypatch.setattr(time, "monotonic", lambda: now[0].at)
    return rows


def test_a_machine_used_what_it_did_not_idle(kernel_counters: list[SimpleNamespace]) -> None:
    """Tick-based parts are capped by the time that was not idle, and no counter decreases."""
    processors = psutil_sampler.Processors()
    assert processors.sample() == pytest.approx([1, 0.2, 0.2, 0.1])
    assert processors.sample() == pytest.approx([2, 0.2, 0.2, 0.1])
    assert len(kernel_counters) == 3


def test_what_a_kernel_leaves_out_is_not_recorded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """gVisor names more TCP counters than it gives values for, or has none."""
    counted, more = tmp_path / "snmp", tmp_path / "netstat"
    monkeypatch.setattr(psutil_sampler, "TCP_COUNTERS", counted)
    monkeypatch.setattr(psutil_sampler, "MORE_TCP_COUNTERS", more)
    counted.write_text("Tcp: OutSegs RetransSegs\nTcp: 90 3\n")
    more.write_text("TcpExt: TCPDSACKRecvSegs\n")
    assert psutil_sampler._segments() == [90, 3]
    more.write_text("TcpExt: TCPDSACKRecvSegs\nTcpExt: 2\n")
    assert psutil_sampler._segments() == [90, 3, 2]
    counted.write_text("")
    assert psutil_sampler._segments() is None


def test_a_node_that_was_started_again_is_followed(tmp_path: Path) -> None:
    """The list of targets is read again after a change; only changed targets are reopened."""
    file = tmp_path / "targets"
    nodes = {"Master": 10, "Slave 1": 11}

    def write(written: int) -> None:
        file.write_text(json.dumps([{"label": name, "pid": pid} for name, pid in nodes.items()]))
        os.utime(file, ns=(written, written))

    write(1)
    targets = psutil_sampler.Targets(file)
    assert targets.renewed() == []
    nodes["Slave 1"] = 12
    write(2)
    assert targets.renewed() == [{"label": "Slave 1", "pid": 12}]
    assert targets.renewed() == []


def test_what_an_ended_child_used_is_counted_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A node's helper may end at any time: its CPU still counts, its memory does not."""
    readings = {"node": (4.0, 1.0, 100), "helper": (0.5, 0.1, 10)}

    def read(process: object, *, ended: bool) -> tuple[float, float, int] | None:
        assert not ended
        return readings.get(str(process))

    monkeypatch.setattr(psutil_sampler, "_read", read)
    watched = psutil_sampler.Watched(os.getpid(), children=True)
    vars(watched).update(family=["node", "helper"], last=[(0.0, 0.0, 0)] * 2)
    assert (watched.sample() or [])[1:] == [4.5, 1.1, 110]
    del readings["helper"]
    assert (watched.sample() or [])[1:] == [4.5, 1.1, 100]
    del readings["node"]
    assert watched.sample() is None


def test_a_real_machine_has_used_less_than_there_was() -> None:
    """Its counters exist and increase."""
    processors = psutil_sampler.Processors()
    before = processors.sample()
    sum(range(3_000_000))
    at, used, *parts = processors.sample()
    assert all(0 <= part <= used for part in parts)
    assert used - before[1] <= (at - before[0]) * (psutil.cpu_count() or 1) + 0.1
    assert used > 0
