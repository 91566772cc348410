"""Statistics: table in, table out, and every reason to distrust a number."""

from mqperf.stats.complete import complete

__all__ = ["complete"]
