"""Layouts: each topology with a kind of queue, of one system."""

from collections.abc import Iterator

import pandas as pd

from mqperf.study.tables.axes import LAYOUT
from mqperf.study.tables.shape import Tables, select


def by_layout(tables: Tables, rows: pd.DataFrame) -> Iterator[tuple[str, dict[str, pd.DataFrame]]]:
    """The layouts of these rows, in their order: each in words, and all tables of it alone."""
    for system, topology, queues in rows[list(LAYOUT)].drop_duplicates().itertuples(index=False):
        part = select(tables, system=system, topology=topology, queues=queues)
        yield f"{system}, {topology}, {queues} queues", part
