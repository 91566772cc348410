"""What generators share whose messages carry a number and the instant at which they were due.

Here is what is taken to hosts for them; ``inside/`` runs there.
"""

from pathlib import Path

from mqperf.hosts.software import Machine, modules, modules_in, packages, versions

LOCK = Path(__file__).with_name("locks") / "numbered.txt"

INSIDE = (
    "record/buckets",
    "record/counts_format",
    "record/numbers",
    "record/tally",
    "series/hdr",
    "series/hdr_code",
    "load/inside/programs/control",
    *modules_in(Path(__file__).with_name("inside")),
)
"""Modules that programs on hosts have; they import each other, numpy and the standard library."""


def path_for(machine: Machine, *inside: Path) -> tuple[tuple[Path, ...], dict[str, str]]:
    """The folders on a host from which a program with such folders imports; with versions.

    Raises ``InstallError`` when numpy cannot be had for the host's platform.
    """
    site = packages("numpy for load generators", LOCK, machine.platform)
    ours = modules([*INSIDE, *(name for folder in inside for name in modules_in(folder))])
    return (machine.copied(ours), machine.copied(site)), versions(site)
