"""Control groups of the kernel: where they are, and how one gets a quota.

Version 1 has a hierarchy of folders for each controller, version 2 one for all.  CPU is given out
in periods of 0.1 s, as container engines do: who has used up its share of one waits for the next.
See cgroups(7), and sched-bwc and cgroup-v2 in the documentation of Linux.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PERIOD_US = 100_000
MOUNTS = Path("/proc/self/mounts")
CONTROLLERS = {"cores": "cpu", "memory_bytes": "memory"}
"""Which controller gives a resource."""


@dataclass(frozen=True)
class GroupRoot:
    """Where groups of a controller can be made: a folder of a hierarchy of this version."""

    controller: str
    version: int
    folder: Path


def places(resources: set[str], mounts: Path = MOUNTS) -> list[GroupRoot]:
    """Where groups for these resources are made; raises ``OSError`` with what is in the way."""
    wanted = [controller for name, controller in CONTROLLERS.items() if name in resources]
    mounted = list(_mounted(mounts))
    return [_place(controller, mounted) for controller in wanted]


def settings(place: GroupRoot, resources: Mapping[str, float]) -> dict[str, str]:
    """What is written into which file of a group for its quota."""
    if place.controller == "cpu" and "cores" in resources:
        quota = round(resources["cores"] * PERIOD_US)
        if place.version == 2:
            return {"cpu.max": f"{quota} {PERIOD_US}"}
        return {"cpu.cfs_period_us": str(PERIOD_US), "cpu.cfs_quota_us": str(quota)}
    if place.controller == "memory" and "memory_bytes" in resources:
        file = "memory.max" if place.version == 2 else "memory.limit_in_bytes"
        return {file: str(round(resources["memory_bytes"]))}
    return {}


def enable(place: GroupRoot, folder: Path) -> None:
    """Let groups below a folder have the controller; only version 2 asks for it."""
    if place.version == 2:
        (folder / "cgroup.subtree_control").write_text(f"+{place.controller}")


def throttled(group: Path) -> tuple[int, int, float]:
    """Periods of a group with a quota of CPU, those in which it waited, and the seconds of that.

    The seconds are summed over processors.
    """
    counts = dict(line.split() for line in (group / "cpu.stat").read_text().splitlines())
    waited = int(counts.get("throttled_usec", 0)) * 1e-6
    waited += int(counts.get("throttled_time", 0)) * 1e-9
    return int(counts["nr_periods"]), int(counts["nr_throttled"]), waited


def members(group: Path) -> set[int]:
    """Ids of the processes in a group."""
    return {int(pid) for pid in (group / "cgroup.procs").read_text().split()}


def _mounted(mounts: Path) -> Iterator[tuple[Path, int, set[str]]]:
    """Every hierarchy: where it is mounted, its version, its controllers."""
    for line in mounts.read_text().splitlines():
        _, folder, kind, options = line.split()[:4]
        if kind == "cgroup":
            yield Path(folder), 1, set(options.split(","))
        elif kind == "cgroup2":
            names = (Path(folder) / "cgroup.controllers").read_text()
            yield Path(folder), 2, set(names.split())


def _place(controller: str, mounted: list[tuple[Path, int, set[str]]]) -> GroupRoot:
    for folder, version, controllers in mounted:
        if controller in controllers:
            if not os.access(folder, os.W_OK):
                raise PermissionError(13, "no group can be made there: run as root", str(folder))
            return GroupRoot(controller, version, folder)
    raise FileNotFoundError(
        2, f"no control groups with the controller {controller} are mounted", str(MOUNTS)
    )
