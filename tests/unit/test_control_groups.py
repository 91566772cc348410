"""Quotas by control groups: their keys in plans, their files, and their records."""

import json
from pathlib import Path

import pytest
import samples

from mqperf.base.errors import ProbeError, SystemFault
from mqperf.lab.systems import SYSTEMS
from mqperf.plan.file import parse_plan
from mqperf.study.tables import Tables
from mqperf_capacity.lab import probe
from mqperf_capacity.onhost import cgroups
from mqperf_capacity.plan.quotas import Quotas
from mqperf_capacity.record.quota_log import samples as quota_samples

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "data/samples/capacity"


PLAN = """\
systems:
  rabbitmq:
    topologies: [single]
    settings: {broker_cores: [0.25, 0.5], broker_memory_bytes: 1073741824}
test_cases: [rpc-call]
load: {green_threads: 1, duration_s: 1}
"""


@pytest.fixture
def tables() -> Tables:
    return samples.complete(SAMPLE)


def test_quotas_are_axes_of_any_system() -> None:
    """Each value needs a start of its own; systems do not know of quotas."""
    plan = parse_plan(PLAN, Path("plan.yaml"))
    assert [case.settings["broker_cores"] for case in plan.cases()] == [0.25, 0.5]
    for name, system in SYSTEMS.items():
        if name != "toy":
            system.check({"client_cores": 1, "server_memory_bytes": 2**30})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"broker_cores": 0}, "broker_cores: expected"),
        ({"broker_cores": "half"}, "broker_cores: expected"),
        ({"broker_core": 1}, "did you mean 'broker_cores'"),
        ({"client_memory_bytes": 10}, "client_memory_bytes: expected"),
    ],
    ids=["none", "words", "misspelt", "little"],
)
def test_invalid_quotas_are_refused(settings: dict[str, int | str], message: str) -> None:
    """The error names the key."""
    with pytest.raises(SystemFault, match=message):
        SYSTEMS["rabbitmq"].check(settings)


def test_each_version_of_control_groups_has_its_files() -> None:
    """A quota is a share of a period of 0.1 s; memory is in bytes."""
    resources = {"cores": 0.5, "memory_bytes": 2**30}
    written = {
        (controller, version): cgroups.settings(
            cgroups.GroupRoot(controller, version, Path("/x")), resources
        )
        for controller in ("cpu", "memory")
        for version in (1, 2)
    }
    assert written == {
        ("cpu", 1): {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "50000"},
        ("cpu", 2): {"cpu.max": "50000 100000"},
        ("memory", 1): {"memory.limit_in_bytes": "1073741824"},
        ("memory", 2): {"memory.max": "1073741824"},
    }


def test_groups_are_made_where_their_controller_is_mounted(tmp_path: Path) -> None:
    """The version that has the controller is used; if none has it, the error says so."""
    (tmp_path / "unified").mkdir()
    (tmp_path / "unified/cgroup.controllers").write_text("hugetlb memory\n")
    mounts = tmp_path / "mounts"
    mounts.write_text(
        f"cgroup {tmp_path} cgroup rw,relatime,cpu,cpuacct 0 0\n"
        f"cgroup2 {tmp_path}/unified cgroup2 rw 0 0\n"
    )
    assert cgroups.places({"cores", "memory_bytes"}, mounts) == [
        cgroups.GroupRoot("cpu", 1, tmp_path),
        cgroups.GroupRoot("memory", 2, tmp_path / "unified"),
    ]
    mounts.write_text("proc /proc proc rw 0 0\n")
    with pytest.raises(OSError, match="no control groups with the controller cpu are mounted"):
        cgroups.places({"cores"}, mounts)


def test_counters_of_both_versions_are_read(tmp_path: Path) -> None:
    """As Linux 6.18 wrote them; version 2 counts microseconds."""
    (tmp_path / "cpu.stat").write_text(
        "nr_periods 21\nnr_throttled 19\nthrottled_time 682363339\nnr_bursts 0\nburst_time 0\n"
    )
    assert [*cgroups.throttled(tmp_path)] == pytest.approx([21, 19, 0.682363339])
    (tmp_path / "cpu.stat").write_text(
        "usage_usec 5\nnr_periods 21\nnr_throttled 19\nthrottled_usec 682363\n"
    )
    assert [*cgroups.throttled(tmp_path)] == pytest.approx([21, 19, 0.682363])


def test_a_run_records_how_often_its_quota_was_used_up(tables: Tables) -> None:
    """The share is that of its window, beside the quota that its host recorded."""
    quotas = tables["quotas"]
    assert len(quotas) == len(tables["runs"])
    assert set(quotas["group"]) == {"broker Broker"}
    assert set(quotas["quota_cores"]) == {0.5}
    assert quotas["quota_periods"].between(90, 101).all()
    assert quotas["throttled_share"].between(0, 1).all()


def test_a_process_without_its_quota_fails_the_run(tmp_path: Path) -> None:
    """A cluster that mqperf did not start is an example."""
    line = {"epoch": 1.0, "groups": {}, "outside": ["Master"]}
    (tmp_path / "quotas.jsonl").write_text(json.dumps(line) + "\n")
    with pytest.raises(ProbeError, match="Master on h1 ran without the quota"):
        probe.check(tmp_path, "h1")
    (tmp_path / "quotas.jsonl").write_text('{"epoch": 1.0, "gro')
    with pytest.raises(ProbeError, match=r"quotas\.jsonl:1: the log is cut short"):
        list(quota_samples(tmp_path / "quotas.jsonl"))


def test_quotas_of_a_role_are_told_apart() -> None:
    """The name of a quota begins with the role."""
    quotas = Quotas(broker_cores=0.5, client_memory_bytes=2**30)
    assert quotas.of("broker") == {"cores": 0.5}
    assert quotas.of("client") == {"memory_bytes": 2**30}
    assert quotas.of("server") == {}
