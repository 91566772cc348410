"""How much is needed, for mqperf: quotas, demands, and predictions from what was measured.

``predict`` and ``predict_mix`` predict, as ``mqperf predict`` does; see ``front.api``.  The folders
("rooms") are those of mqperf, and follow the same rules about what each may hold and import.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mqperf_capacity.front.api import Prediction, predict, predict_mix

__all__ = ["Prediction", "predict", "predict_mix"]


def __getattr__(name: str) -> object:
    """Import the analysis only when it is used, as plans do not need it."""
    if name not in __all__:
        raise AttributeError(f"module 'mqperf_capacity' has no attribute {name!r}")
    from mqperf_capacity.front import api

    return getattr(api, name)
