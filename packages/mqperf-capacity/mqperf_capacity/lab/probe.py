"""The probe of quotas: in every run, on hosts with a quota of CPU."""

from pathlib import Path

from mqperf.base.errors import ProbeError
from mqperf.lab.probes import Probe, Program, Task, recorder
from mqperf_capacity.lab.quotas import Limited, group_of
from mqperf_capacity.record.quota_log import LOG, samples

PROGRAM = "mqperf_capacity.onhost.recorder"


def program(task: Task) -> Program | None:
    """The recorder to start; None on a host without a quota of CPU."""
    machine = task.machine
    root = machine.groups.cpu() if isinstance(machine, Limited) else None
    if root is None or not isinstance(machine, Limited):
        return None
    groups: dict[str, dict[str, int]] = {}
    for target in task.targets:
        if "cores" in machine.groups.quotas.of(target.kind):
            groups.setdefault(group_of(target.kind, target.label), {})[target.label] = target.pid
    if not groups:
        return None
    config = {"folder": str(root.folder), "groups": groups}
    return recorder(task, PROGRAM, LOG, data=config)


def check(folder: Path, host: str) -> None:
    """Raise ``ProbeError`` for an invalid log, and for processes that ran without their quota."""
    file = folder / LOG
    if not file.exists():
        return
    for sample in samples(file):
        if sample.outside:
            raise ProbeError(
                f"{file}: {', '.join(sample.outside)} on {host} ran without the quota that the"
                " plan asks for: mqperf limits what it starts itself; leave the quota of"
                " that role out of the plan"
            )


PROBE = Probe("quotas", program=program, check=check, always=True)
