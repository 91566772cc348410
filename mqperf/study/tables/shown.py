"""Tables for display: headings with units, values in milliseconds and per cent."""

import pandas as pd

from mqperf.plan.columns import COLUMNS


def shown(frame: pd.DataFrame, *columns: str, subject: str = "") -> pd.DataFrame:
    """These columns, scaled to their displayed unit, with the headings of reports.

    ``subject`` goes in front of CPU headings: ``Redis CPU, %``.
    """
    return pd.DataFrame(
        {
            COLUMNS[name].heading(subject if COLUMNS[name].unit == "cores" else ""): (
                frame[name] if COLUMNS[name].scale == 1 else frame[name] * COLUMNS[name].scale
            )
            for name in columns
        }
    )
