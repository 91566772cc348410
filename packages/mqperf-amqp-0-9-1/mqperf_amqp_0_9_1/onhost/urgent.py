"""Which messages are urgent, for consumers; who starts them needs no numpy."""

import numpy as np
from numpy.typing import NDArray

from mqperf_numbered.onhost.messages import drawn
from mqperf_numbered.onhost.record import Numbers


def urgent(numbers: Numbers, sender: Numbers, share: float) -> NDArray[np.bool_]:
    """Which messages are: of a form of the first ``share``, whatever lengths these have."""
    chosen: NDArray[np.bool_] = drawn(numbers, sender, (share, 1 - share)) == 0
    return chosen
