"""mqperf: a message-queue performance laboratory in a notebook.

``run`` measures a plan, ``read`` gives what was measured, ``compare`` compares two of these,
``load_plan`` and ``new_plan`` make a plan; see ``api``.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mqperf.front.api import Comparison, Results, compare, load_plan, new_plan, read, run

__version__ = "1.0.0"
__all__ = ["Comparison", "Results", "compare", "load_plan", "new_plan", "read", "run"]


def __getattr__(name: str) -> object:
    """Import the library for analysis only when it is asked for: what measures needs none of it.

    Packages add functions by entry points in ``mqperf.functions``.
    """
    if name in __all__:
        from mqperf.front import api

        return getattr(api, name)
    from importlib.metadata import entry_points

    for point in entry_points(group="mqperf.functions", name=name):
        return point.load()
    from mqperf.base.packages import lacking

    hint = f"; install {package}" if (package := lacking(f"mqperf.{name}")) else ""
    raise AttributeError(f"module 'mqperf' has no attribute {name!r}{hint}")


def __dir__() -> list[str]:
    """What completion offers."""
    return sorted({*globals(), *__all__})
