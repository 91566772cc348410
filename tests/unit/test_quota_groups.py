"""Quotas by control groups, version 2, whose controllers share one hierarchy."""

import json
from contextlib import ExitStack
from pathlib import Path

import pytest

from mqperf_capacity.lab.quotas import Groups
from mqperf_capacity.onhost import cgroups, keeper
from mqperf_capacity.plan.quotas import Quotas


@pytest.mark.starts_programs
def test_controllers_of_one_hierarchy_share_a_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process is in one group per hierarchy: a second group would replace the quota."""
    root = tmp_path / "cgroup"
    root.mkdir()
    (root / "cgroup.controllers").write_text("cpu memory")
    mounts = tmp_path / "mounts"
    mounts.write_text(f"cgroup2 {root} cgroup2 rw 0 0\n")
    there = cgroups.places({"cores", "memory_bytes"}, mounts)
    monkeypatch.setattr(cgroups, "places", lambda _resources: there)
    with ExitStack() as held:
        places = tuple(keeper.made_in(held, {"cores", "memory_bytes"}))
        [folder] = {place.folder for place in places}
        enabled = [file.read_text() for file in tmp_path.rglob("cgroup.subtree_control")]
        for file in tmp_path.rglob("cgroup.subtree_control"):
            file.unlink()
    assert [place.controller for place in places] == ["cpu", "memory"]
    assert enabled == ["+memory"] * 2
    groups = Groups(places, Quotas(broker_cores=0.5, broker_memory_bytes=2**30))
    [[group, files]] = json.loads(groups.entered("broker Master", "broker"))
    assert group == str(folder / "broker Master")
    assert files == {"cpu.max": "50000 100000", "memory.max": str(2**30)}
