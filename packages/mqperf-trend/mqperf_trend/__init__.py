"""Many folders of runs in the order of time, for mqperf: what changed, and since when.

``trend`` judges them, as ``mqperf trend`` does; see ``front.api``.  The folders ("rooms") are those
of mqperf, and follow the same rules about what each may hold and import.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mqperf_trend.front.api import Trend, trend

__all__ = ["Trend", "trend"]


def __getattr__(name: str) -> object:
    """Import the analysis only when it is used, as the tables do not need it."""
    if name not in __all__:
        raise AttributeError(f"module 'mqperf_trend' has no attribute {name!r}")
    from mqperf_trend.front import api

    return getattr(api, name)
