"""Run folders, or the tables of a published report, as tidy frames.

Every frame has exactly the columns that ``columns.TABLES`` promises.  Reading needs nothing but the
folder: no broker, no network, no other machine.
"""

from mqperf.tables.files import Tables, of_runs, published_facts, read, write
from mqperf.tables.shape import conform, empty

__all__ = ["Tables", "conform", "empty", "of_runs", "published_facts", "read", "write"]
