"""An importer of notes: the messages received in each second, one number per line."""

from pathlib import Path

import numpy as np
import pandas as pd

from mqperf.study.importer import Importer, Measurement, throughput


def read(file: Path, source: str) -> Measurement:
    """The seconds of a file as those of a window; the send rate is unknown."""
    received = np.array(file.read_text(encoding="utf-8").split(), dtype=int)
    return Measurement(
        source=source,
        test_case="toy-echo",
        threads=1,
        parameters={},
        facts={"generator": "toy-notes", "window_s": len(received)},
        frames={"messages": pd.DataFrame([throughput(received, sent=None)])},
    )


IMPORTER = Importer(
    name="toy-notes",
    title="Toy notes",
    link="https://docs.python.org/3/library/array.html",
    known_by="*.toy",
    holds=lambda path: path.suffix == ".toy",
    read=read,
)
