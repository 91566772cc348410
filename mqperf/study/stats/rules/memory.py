"""Hosts that were short of memory."""

from collections.abc import Iterator

from mqperf.study.stats.rules.finding import Finding, each
from mqperf.study.tables import Tables

SWAPPED_IN = 2**20
"""Bytes read back from swap that raise a doubt: 256 pages, for each of which a process waits for
the disk.  A host with free memory reads back none, however much it had swapped out."""


def swapping(tables: Tables) -> Iterator[Finding]:
    """Hosts that read memory back from swap in the window."""
    rows = tables["memory"]
    for row in each(rows[rows["swapped_in_bytes"].ge(SWAPPED_IN)]):
        yield Finding(
            row.run,
            f"{row.host} read {row.swapped_in_bytes / 2**20:.0f} MiB back from swap: processes"
            " waited for its disk",
            {
                "swapped_in_bytes": int(row.swapped_in_bytes),
                "memory_available_bytes": int(row.memory_available_bytes),
            },
        )
