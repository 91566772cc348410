"""The record itself: whether it is still what the runner left."""

from collections.abc import Iterator

from mqperf.stats.rules.finding import Finding, each
from mqperf.tables import Tables


def changed_record(tables: Tables) -> Iterator[Finding]:
    """Attempts with files that are gone, or no longer have the checksum that was recorded."""
    runs = tables["runs"]
    for row in each(runs[runs["damaged"].notna()]):
        yield Finding(
            row.run,
            f"recorded files were changed or removed since they were written: {row.damaged}",
        )
