"""What programs of probes have in common: their arguments, and the instants of their samples."""

import argparse
import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from mqperf.onhost.load.control import Control

GRACE_S = 0.5
"""For the difference between what is agreed and a clock's own reading of it."""


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """What a probe is told, as ``options`` of ``lab.probes`` writes it; and its ``talk``."""
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

    A second that is over by ``late_s`` is left out.  A load may end earlier than was agreed.
    """
    for instant in (start + second for second in range(seconds + 1)):
        if (wait := instant - time.time()) > -late_s:
            time.sleep(max(0.0, wait))
            if (end := control.end()) is not None and instant > end + GRACE_S:
                return
            yield
