"""Statistics: table in, table out, and every reason to distrust a number."""

from mqperf.stats.complete import compared, complete
from mqperf.stats.trends import trend

__all__ = ["compared", "complete", "trend"]
