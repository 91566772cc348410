"""Control groups of the kernel: where they are, and how one gets a quota.

Version 1 has a hierarchy of folders for each controller, version 2 one for all.  CPU is allotted in
periods of 0.1 s, as by container engines: a group that has used up its share waits for the next.
See cgroups(7), and sched-bwc and cgroup-v2 in the documentation of Linux.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PERIOD_US = 100_000
MOUNTS = Path("/proc/self/mounts")
CONTROLLERS = {"cores": "cpu", "memory_bytes": "memory"}
"""Resource -> the controller that limits it."""


@dataclass(frozen=True)
class GroupRoot:
    """A folder in which groups of a controller can be made, and the version of its hierarchy."""

    controller: str
    version: int
    folder: Path


def places(resources: set[str], mounts: Path = MOUNTS) -> list[GroupRoot]:
    """Where groups for these resources can be made; raises ``OSError`` if they cannot."""
    controllers = [controller for name, controller in CONTROLLERS.items() if name in resources]
    mounted = list(_mounted(mounts))
    return [_root(controller, mounted) for controller in controllers]


def settings(root: GroupRoot, resources: Mapping[str, float]) -> dict[str, str]:
    """File name -> text to write into that file of a group, for its quota."""
    if root.controller == "cpu" and "cores" in resources:
        quota = round(resources["cores"] * PERIOD_US)
        if root.version == 2:
            return {"cpu.max": f"{quota} {PERIOD_US}"}
        return {"cpu.cfs_period_us": str(PERIOD_US), "cpu.cfs_quota_us": str(quota)}
    if root.controller == "memory" and "memory_bytes" in resources:
        file = "memory.max" if root.version == 2 else "memory.limit_in_bytes"
        return {file: str(round(resources["memory_bytes"]))}
    return {}


def enable(root: GroupRoot, folder: Path) -> None:
    """Enable the controller for groups below a folder, which only version 2 needs."""
    if root.version == 2:
        (folder / "cgroup.subtree_control").write_text(f"+{root.controller}")


def throttled(group: Path) -> tuple[int, int, float]:
    """Periods of a group with a quota of CPU, periods in which it waited, and seconds waited.

    The seconds are summed over processors.
    """
    counts = dict(line.split() for line in (group / "cpu.stat").read_text().splitlines())
    waited_s = int(counts.get("throttled_usec", 0)) * 1e-6
    waited_s += int(counts.get("throttled_time", 0)) * 1e-9
    return int(counts["nr_periods"]), int(counts["nr_throttled"]), waited_s


def members(group: Path) -> set[int]:
    """Ids of the processes in a group."""
    return {int(pid) for pid in (group / "cgroup.procs").read_text().split()}


def _mounted(mounts: Path) -> Iterator[tuple[Path, int, set[str]]]:
    """Every hierarchy: its mount point, version and controllers."""
    for line in mounts.read_text().splitlines():
        _, folder, kind, options = line.split()[:4]
        if kind == "cgroup":
            yield Path(folder), 1, set(options.split(","))
        elif kind == "cgroup2":
            names = (Path(folder) / "cgroup.controllers").read_text()
            yield Path(folder), 2, set(names.split())


def _root(controller: str, mounted: list[tuple[Path, int, set[str]]]) -> GroupRoot:
    for folder, version, controllers in mounted:
        if controller in controllers:
            if not os.access(folder, os.W_OK):
                raise PermissionError(13, "no group can be made there: run as root", str(folder))
            return GroupRoot(controller, version, folder)
    raise FileNotFoundError(
        2, f"no control groups with the controller {controller} are mounted", str(MOUNTS)
    )
