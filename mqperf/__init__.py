"""mqperf: a message-queue performance laboratory in a notebook.

``run`` measures a plan, ``read`` gives what was measured, ``compare`` compares two of these,
``load_plan`` and ``new_plan`` make a plan; see ``api``.  ``trend`` puts many measurements in the
order of time; see ``trends``.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mqperf.front.api import Comparison, Results, compare, load_plan, new_plan, read, run
    from mqperf.front.trends import Trend, trend

__version__ = "0.1.0"
__all__ = [
    "Comparison",
    "Results",
    "Trend",
    "compare",
    "load_plan",
    "new_plan",
    "read",
    "run",
    "trend",
]


def __getattr__(name: str) -> object:
    """Import the library for analysis only when it is asked for: what measures needs none of it."""
    if name not in __all__:
        raise AttributeError(f"module 'mqperf' has no attribute {name!r}")
    from mqperf.front import api, trends

    return getattr(trends if name in ("Trend", "trend") else api, name)


def __dir__() -> list[str]:
    """What completion offers."""
    return sorted({*globals(), *__all__})
