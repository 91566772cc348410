"""Statistics: table in, table out, and every reason to distrust a number."""

from mqperf.study.stats.complete import compared, complete

__all__ = ["compared", "complete"]
