"""The probe ``atop`` on five hosts, each with its own processes."""

import json
import time
from pathlib import Path

import psutil
import pytest
from typing_extensions import override

from mqperf.lab.runner import Silent, sweep
from mqperf.plan import Case
from mqperf.plan.file import parse_plan
from mqperf.record import runs
from mqperf.study import tables
from mqperf.study.stats import checks
from mqperf_atop.study import compared
from mqperf_laboratory.hosts import Laboratory

pytestmark = [pytest.mark.needs_rabbitmq, pytest.mark.needs_atop]

PLAN = """\
systems:
  rabbitmq: {topologies: [single]}
test_cases: [rpc-call]
probes: [atop]
load: {green_threads: [2], pause_s: 0.02, duration_s: 4, warmup_s: 1}
"""


class ProgramRecorder(Silent):
    """Records the programs that run on the hosts while a case is measured."""

    def __init__(self, hosts: Laboratory) -> None:
        self.hosts = hosts
        self.seen: dict[str, list[str]] = {}

    @override
    def doing(self, what: str, case: Case | None = None) -> None:
        super().doing(what, case)
        if what == "measuring":
            self.seen = {name: programs(self.hosts, name) for name in self.hosts.names}


def programs(hosts: Laboratory, name: str) -> list[str]:
    """The names of the programs on a host."""
    return [p.name() for p in hosts.processes(name) if p.status() != psutil.STATUS_ZOMBIE]


def test_every_host_is_watched_by_atop_too(five_hosts: Laboratory, tmp_path: Path) -> None:
    """Its record is fetched, has only the run's processes, and agrees with psutil's."""
    observer = ProgramRecorder(five_hosts)
    hosts = str(five_hosts.inventory)
    outcome = sweep(parse_plan(PLAN, Path("atop.yaml")), PLAN, tmp_path, observer, hosts=hosts)
    assert outcome.failed == ()
    assert all("atop" in names for names in observer.seen.values()), observer.seen
    limit = time.monotonic() + 60
    while any("atop" in programs(five_hosts, name) for name in five_hosts.names):
        assert time.monotonic() < limit
        time.sleep(0.1)
    [run] = runs(tmp_path)
    for name in five_hosts.names:
        folder = run.path / "probes" / name
        assert (folder / "atop.raw").stat().st_size
        pids = json.loads((folder / "atop.json").read_text())["processes"]
        our_pids = {str(pid) for family in pids.values() for pid in family}
        lines = (folder / "atop.txt").read_text().splitlines()
        assert {line.split()[6] for line in lines if line.startswith("PRC ")} <= our_pids
    frames = tables.read(tmp_path)
    doubts = checks.doubts(frames)
    assert "record-disagrees" not in set(doubts["kind"]), [*doubts["text"]]
    cpu, by_atop = frames["cpu"], compared.by_atop(tmp_path)
    watched = {(row.host, row.process) for row in by_atop.itertuples()}
    assert {("h1", "Broker"), ("h4", "client-1"), ("h5", "server-1"), ("h3", "host h3")} <= watched
    assert watched <= {(row.host, row.process) for row in cpu.itertuples()}
