"""Statistics: table in, table out, and every reason to distrust a number."""

from mqperf.study.stats.complete import compared, complete
from mqperf.study.stats.trends import trend

__all__ = ["compared", "complete", "trend"]
