"""Which messages are urgent; separate from ``priorities``, which does not import numpy."""

import numpy as np
from numpy.typing import NDArray

from mqperf_numbered.onhost.messages import drawn
from mqperf_numbered.onhost.record import Numbers


def urgent(numbers: Numbers, sender: Numbers, share: float) -> NDArray[np.bool_]:
    """Return which messages are urgent: those of the first ``share`` of forms, of any length."""
    chosen: NDArray[np.bool_] = drawn(numbers, sender, (share, 1 - share)) == 0
    return chosen
