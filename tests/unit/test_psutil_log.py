"""The psutil probe: its program is run, and its log is read."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mqperf.base.errors import ProbeError
from mqperf.hosts import LocalHost
from mqperf.lab.probes import Task, WatchedProcess, psutil
from mqperf.record.logs import psutil_log
from mqperf.study.probes import psutil_rows

BUSY = """
import signal
import socket
signal.alarm(60)
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
receiver, _ = server.accept()
while True:
    client.sendall(bytes(4096))
    receiver.recv(4096, socket.MSG_WAITALL)
"""


@contextmanager
def busy_process() -> Iterator[subprocess.Popen[bytes]]:
    """A process that floods a socket, and ends after a minute at the latest."""
    with subprocess.Popen([sys.executable, "-c", BUSY]) as busy:
        try:
            yield busy
        finally:
            busy.kill()


@pytest.mark.starts_programs
def test_a_busy_process_uses_its_core(tmp_path: Path) -> None:
    """Samples are at whole seconds; a busy process uses more CPU than an idle one."""
    log = tmp_path / psutil_log.LOG
    with busy_process() as busy:
        targets = [
            WatchedProcess("client-1", "client", busy.pid),
            WatchedProcess("mqperf", "harness", os.getpid()),
        ]
        program = psutil.program(Task("psutil", targets, tmp_path, 2, tmp_path, LocalHost()))
        for name, content in program.files.items():
            (tmp_path / name).write_text(content)
        with subprocess.Popen(program.argv, env=program.env) as probe:
            try:
                latest = time.monotonic() + 30
                while not (tmp_path / "psutil.ready").exists() and probe.poll() is None:
                    assert time.monotonic() < latest, "the probe does not get ready"
                    time.sleep(0.05)
                start = int(time.time()) + 2
                LocalHost().write(tmp_path / "start", json.dumps({"start": start}))
                probe.wait(timeout=60)
            finally:
                probe.kill()
    kinds = {"client-1": "client", "mqperf": "harness", "psutil": "harness"}
    rows = psutil_rows.cpu(psutil_log.samples(log), kinds, (start, start + 2))
    used = rows[rows["scope"] == "window"].set_index("process")["total_cores"].to_dict()
    assert used["client-1"] > used["mqperf"]
    assert used["host"] > 0
    assert ((rows["process"] == "client-1") & (rows["scope"] == "interval")).sum() in {1, 2}
    assert abs(psutil_log.clock_step_s(psutil_log.samples(log))) < 0.1
    network = psutil_rows.network(psutil_log.samples(log), (start, start + 2), "here")
    assert network.loc[network["interface"] == "lo", "sent_bytes_s"].gt(1e6).all()
    assert "lo" in set(network["interface"])
    assert network["host"].eq("here").all()
    assert network["retransmitted_share"].between(0, 1).all()
    (memory,) = psutil_rows.memory(psutil_log.samples(log), (start, start + 2)).to_dict("records")
    memory_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert 0 < memory["memory_used_bytes"] < memory_bytes
    assert rows.loc[rows["kind"].eq("host"), "rss_bytes"].le(memory["memory_used_bytes"]).all()


def sample(
    second: float, *, alive: bool = True, wall: float | None = None, began: float = 0
) -> str:
    """A line of a log in which client-1, started at ``began``, uses half a core."""
    reading = [second, 0.4 * (second - began), 0.1 * (second - began), 1000]
    return json.dumps(
        {
            "epoch": 1000 + (second if wall is None else wall),
            "monotonic": second,
            "processes": {"client-1": reading if alive else None},
            "host": [second, second, 0.0],
        }
    )


def read(log: Path, lines: list[str]) -> list[tuple[str, float]]:
    """Scope and start of client-1's rows in a window of three seconds."""
    log.write_text("\n".join(lines))
    rows = psutil_rows.cpu(psutil_log.samples(log), {"client-1": "client"}, (1000, 1003))
    of_client = rows[rows["process"] == "client-1"]
    return [*zip(of_client["scope"], of_client["start_s"], strict=True)]


def test_a_dead_process_has_no_total(tmp_path: Path) -> None:
    """After its end it has no rows, and none for the window."""
    lines = [sample(s, alive=s < 2) for s in range(4)]
    assert read(tmp_path / "log", lines) == [("interval", 0.0)]


def test_a_process_that_was_started_again_has_rows_of_both(tmp_path: Path) -> None:
    """No row combines the two processes."""
    lines = [sample(0), sample(1), sample(1.5, alive=False), sample(2, began=2), sample(3, began=2)]
    assert read(tmp_path / "log", lines) == [("interval", 0.0), ("interval", 2.0)]


def over_the_window(log: Path, lines: list[str]) -> list[tuple[float, float]]:
    """Total and system cores of client-1 over four seconds; the plan stops it."""
    log.write_text("\n".join(lines))
    samples = psutil_log.samples(log)
    rows = psutil_rows.cpu(samples, {"client-1": "client"}, (1000, 1004), ended=["client-1"])
    of_client = rows[rows["process"].eq("client-1") & rows["scope"].eq("window")]
    return [*zip(of_client["total_cores"], of_client["sys_cores"], strict=True)]


def test_a_restarted_process_has_the_sum_of_its_cpu(tmp_path: Path) -> None:
    """CPU before the stop and after the restart is added."""
    first, down = [sample(0), sample(1)], [sample(2, alive=False)]
    lines = [*first, *down, sample(3, began=2.5), sample(4, began=2.5)]
    assert over_the_window(tmp_path / "log", lines) == [pytest.approx((1.25 / 4, 0.25 / 4))]


def test_a_process_without_its_restart_has_no_total(tmp_path: Path) -> None:
    """The plan restarts it in the window, so a part of its CPU is unknown."""
    lines = [sample(s, alive=s < 2) for s in range(5)]
    assert over_the_window(tmp_path / "log", lines) == []


def test_a_missing_second_is_a_longer_interval(tmp_path: Path) -> None:
    """No row starts in the missing second."""
    lines = [sample(s) for s in (0, 1, 3)]
    assert read(tmp_path / "log", lines) == [("interval", 0.0), ("interval", 1.0), ("window", 0.0)]


def test_traffic_and_losses_are_those_of_the_window(tmp_path: Path) -> None:
    """Bytes per second of interfaces with traffic, and retransmitted segments."""
    log = tmp_path / "log"
    counters = [([1000, 500], [100, 1]), ([5000, 2500], [300, 3]), ([9999, 9999], [999, 99])]
    lines = []
    for second, (counted, segments) in enumerate(counters):
        interfaces = {"lo": [7, 7], "eth0": counted}
        network = {"at": second * 2, "bytes": interfaces, "speeds": {"eth0": 125}}
        lines.append(json.loads(sample(second)) | {"network": {**network, "segments": segments}})
    log.write_text("\n".join(map(json.dumps, lines)))
    (row,) = psutil_rows.network(psutil_log.samples(log), (1000, 1001)).to_dict("records")
    assert (row["host"], row["interface"], row["speed_bytes_s"]) == ("local", "eth0", 125)
    assert (row["sent_bytes_s"], row["received_bytes_s"]) == (2000, 1000)
    assert row["retransmitted_share"] == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("first", "last", "share"),
    [
        ([1000, 10, 4], [2000, 30, 24], 0.0),
        ([1000, 10, 4], [2000, 30, 9], 0.015),
        ([1000, 10, 4], [2000, 11, 6], 0.0),
        ([1000, 10], [2000, 30], 0.02),
        ([1000, 10, 4], [1000, 10, 4], None),
    ],
)
def test_spurious_retransmissions_are_not_lost(
    tmp_path: Path, first: list[int], last: list[int], share: float | None
) -> None:
    """If counted, spurious retransmissions are subtracted, even if reported late."""
    lines = [
        json.loads(sample(second))
        | {"network": {"at": second, "bytes": {"lo": [9, 9]}, "speeds": {}, "segments": segments}}
        for second, segments in enumerate((first, last))
    ]
    log = tmp_path / "log"
    log.write_text("\n".join(map(json.dumps, lines)))
    (row,) = psutil_rows.network(psutil_log.samples(log), (1000, 1001)).to_dict("records")
    assert row["retransmitted_share"] == (share if share is None else pytest.approx(share))


def with_memory(log: Path, *readings: list[int] | None) -> list[psutil_log.Sample]:
    """The samples of a log with these readings of memory in successive seconds."""
    lines = [json.loads(sample(s)) | {"memory": memory} for s, memory in enumerate(readings)]
    log.write_text("\n".join(map(json.dumps, lines)))
    return psutil_log.samples(log)


def test_memory_is_the_most_and_the_least_of_the_window(tmp_path: Path) -> None:
    """Swapping is that of the window; the host's rss is the memory in use."""
    readings = [100, 40, 7, 50], [100, 20, 7, 60], [100, 30, 9, 60], [100, 1, 99, 99]
    samples = with_memory(tmp_path / "log", *readings)
    (row,) = psutil_rows.memory(samples, (1000, 1002), "here").to_dict("records")
    assert row == {
        "host": "here",
        "memory_used_bytes": 80,
        "memory_available_bytes": 20,
        "swapped_in_bytes": 2,
        "swapped_out_bytes": 10,
    }
    cpu = psutil_rows.cpu(samples, {}, (1000, 1002))
    assert [*cpu.loc[cpu["scope"].eq("interval"), "rss_bytes"]] == [80, 70]


@pytest.mark.parametrize(
    ("readings", "message"),
    [
        ([[100, 101, 0, 0]], "log:1: more memory is available than the host has"),
        ([[100, 50, 5, 0], [100, 50, 4, 0]], "log:2: the counters of swap fell"),
        ([[100, 50, 0, 0], None], "log:2: only some samples have the memory"),
    ],
)
def test_memory_that_contradicts_itself_is_refused(
    tmp_path: Path, readings: list[list[int] | None], message: str
) -> None:
    """The error has the line."""
    with pytest.raises(ProbeError, match=message):
        with_memory(tmp_path / "log", *readings)


def with_hosts(log: Path, *readings: list[float]) -> list[psutil_log.Sample]:
    """The samples of a log with these readings of the host, with or without stolen time."""
    lines = [json.loads(sample(s)) | {"host": host} for s, host in enumerate(readings)]
    log.write_text("\n".join(map(json.dumps, lines)))
    return psutil_log.samples(log)


def test_the_speed_of_a_core_is_that_of_the_host(tmp_path: Path) -> None:
    """It is the median over the window; older logs lack it, and no log has it at times only."""
    log = tmp_path / "log"

    def lines(*times_s: float | None) -> list[str]:
        known = [{} if time_s is None else {"yardstick_s": time_s} for time_s in times_s]
        return [json.dumps(json.loads(sample(second)) | more) for second, more in enumerate(known)]

    log.write_text("\n".join(lines(4e-4, 9e-4, 5e-4, 1e-3)))
    rows = psutil_rows.cpu(psutil_log.samples(log), {"client-1": "client"}, (1000, 1002))
    known = rows.dropna(subset=["core_speed"])
    assert known[["process", "scope", "core_speed"]].to_numpy().tolist() == [
        ["host", "window", 2000.0]
    ]
    log.write_text("\n".join(lines(None, None, None)))
    assert psutil_rows.cpu(psutil_log.samples(log), {}, (1000, 1002))["core_speed"].isna().all()
    log.write_text("\n".join(lines(4e-4, None, 4e-4)))
    with pytest.raises(ProbeError, match=r"log:2: only some samples have the speed of the cores"):
        psutil_log.samples(log)


def test_stolen_time_is_that_of_the_host(tmp_path: Path) -> None:
    """For each second and the window; older logs lack it."""
    log = with_hosts(tmp_path / "log", [0, 0, 0, 0], [1, 1, 0.1, 0.5], [2, 2, 0.2, 0.6])
    rows = psutil_rows.cpu(log, {"client-1": "client"}, (1000, 1002))
    assert rows.loc[rows["process"].eq("host"), "stolen_cores"].round(9).to_list() == [
        0.5,
        0.1,
        0.3,
    ]
    assert rows.loc[rows["process"].eq("client-1"), "stolen_cores"].isna().all()
    older = with_hosts(tmp_path / "log", [0, 0, 0], [1, 1, 0.1])
    assert psutil_rows.cpu(older, {}, (1000, 1001))["stolen_cores"].isna().all()


@pytest.mark.parametrize(
    ("readings", "message"),
    [
        ([[0, 0, 0, 0], [1, 1, 0, 1.5]], "log:2: a hypervisor took more than was used"),
        ([[0, 1, 0, 1], [1, 2, 0, 0.5]], "log:2: the counters of host fell"),
        (
            [[0, 0, 0], [1, 1, 0, 0]],
            "log:2: only some samples have the time that a hypervisor took",
        ),
    ],
)
def test_impossible_stolen_time_is_refused(
    tmp_path: Path, readings: list[list[float]], message: str
) -> None:
    """The error has the line."""
    with pytest.raises(ProbeError, match=message):
        with_hosts(tmp_path / "log", *readings)


def test_a_log_without_network_and_memory_has_no_rows_of_them(tmp_path: Path) -> None:
    """Older logs can still be read."""
    log = tmp_path / "log"
    log.write_text("\n".join(sample(second) for second in range(4)))
    assert psutil_rows.network(psutil_log.samples(log), (1000, 1003)).empty
    assert psutil_rows.memory(psutil_log.samples(log), (1000, 1003)).empty


def test_a_clock_that_is_set_is_noticed(tmp_path: Path) -> None:
    """The difference of wall clock and monotonic clock, with its sign."""
    log = tmp_path / "log"
    log.write_text("\n".join([sample(0), sample(1), sample(2, wall=-3.0)]))
    assert psutil_log.clock_step_s(psutil_log.samples(log)) == pytest.approx(-5.0)


def test_a_cut_log_is_named_with_its_line(tmp_path: Path) -> None:
    """Incomplete lines and missing logs are errors."""
    log = tmp_path / "log"
    log.write_text(sample(0) + "\n" + sample(1)[:20])
    with pytest.raises(ProbeError, match=r"log:2: .*cut short"):
        psutil_log.samples(log)
    with pytest.raises(ProbeError, match="no log of the probe psutil"):
        psutil_log.samples(tmp_path / "nowhere")
