"""Shared code of the probes' programs: their arguments, and the times of their samples."""

import argparse
import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from mqperf.onhost.load.control import Control

GRACE_S = 0.5
"""Tolerance between the agreed end and the reading of this host's clock."""


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the arguments that ``options`` of ``lab.probes`` writes; ``talk`` is a ``Control``."""
    parser = argparse.ArgumentParser()
    kinds = {"label": str, "control": Path, "targets": Path, "seconds": int, "out": Path}
    for name, kind in kinds.items():
        parser.add_argument(f"--{name}", type=kind, required=True)
    options = parser.parse_args(arguments)
    options.talk = Control(options.control, options.label)
    return options


def each_second(
    control: Control, start: float, seconds: int, late_s: float = math.inf
) -> Iterator[None]:
    """Wait for each whole second of the load, the first and the last included.

    A second is skipped once it is ``late_s`` past.  A load may end earlier than agreed.
    """
    for instant in (start + second for second in range(seconds + 1)):
        if (wait := instant - time.time()) > -late_s:
            time.sleep(max(0.0, wait))
            if (end := control.end()) is not None and instant > end + GRACE_S:
                return
            yield
