"""The same invented nights, judged by ``mqperf trend`` and by Apache Otava.

    cd benchmarks && ../.venv/bin/python -m peers.change_points [--write]

mqperf does not need Otava: uv, in ``.tool``, fetches it into an environment of its own.  Each night
it gets every series up to then, with its default settings except for the least change: mqperf's.
"""

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
from simulations.following import Level, history, stays, stepped, verdicts
from simulations.invented import Array
from simulations.share import share, table

from mqperf.study.stats.compare import MIN_EFFECT

ROOT = Path(__file__).parents[2]
UV = ROOT / ".tool/bin/uv"
OTAVA = (UV, "run", "--no-project", "--with", "apache-otava==0.8.0", "python", "-c")
CODE = f"""
import json, sys; from otava.analysis import compute_change_points as points
print(json.dumps([[[int(point.index) for point in points(some[:end], min_magnitude={MIN_EFFECT})[0]]
    for end in range(2, len(some) + 1)] for some in json.load(sys.stdin)]))
"""
POINTS, HISTORIES = 6, 20
CASES: dict[str, tuple[int, int, Level]] = {  # nights, those before the change, levels
    "no change, 60 nights": (60, 60, stays),
    "10 % slower from night 4 of 20": (20, 3, stepped(3, 0.1, POINTS)),
    "10 % slower from night 21 of 40": (40, 20, stepped(20, 0.1, POINTS)),
    "1.5 % slower each night of 30": (30, 1, lambda night, _: 0.015 * night),
}


def main() -> None:
    """Print the reports of both, night by night, on every figure of every point."""
    rows = []
    for name, (nights, before, level) in CASES.items():
        random = np.random.default_rng(1)
        histories = [history(random, nights, POINTS, level) for _ in range(HISTORIES)]
        by_mqperf = np.array([verdicts(steps) for steps in histories])
        by_otava, kept = map(np.concatenate, zip(*map(_by_otava, histories), strict=True))
        rows.append((name, "mqperf trend", *_shares(by_mqperf, before), "all"))
        new = by_otava.reshape(by_mqperf.shape)
        rows.append((name, "Apache Otava", *_shares(new, before), share(kept)))
    columns = ("nights with a false report", "changes found", "on night, median", "kept to the end")
    results = table(rows, "history", "by", *columns)
    print(results.to_string(index=False))
    if "--write" in sys.argv:
        results.to_csv(ROOT / "docs/_data/change-points.csv", index=False, lineterminator="\n")


def _shares(reported: Array, before: int) -> tuple[str, str, str]:
    """Return, of reports by history, night from the second, series: false nights, changes, when."""
    early, late = reported[:, : before - 1], reported[:, before - 1 :]
    changed = late.any(axis=1)
    false = share(early.any(axis=2).ravel()) if early.size else ""
    first = f"{np.median(late.argmax(axis=1)[changed]) + before + 1:.0f}" if changed.any() else ""
    return false, share(changed.ravel()) if late.size else "", first


def _by_otava(steps: pd.DataFrame) -> tuple[Array, list[bool]]:
    """Return, for nights by series, whether a change point is new; and whether each one stays."""
    groups = steps.groupby(["threads", "figure"])
    series = json.dumps([[rows["value_a"].iloc[0], *rows["value_b"]] for _, rows in groups])
    result = subprocess.run([*OTAVA, CODE], input=series, check=True, text=True, stdout=-1)
    new, kept = [], []
    for nights in json.loads(result.stdout):
        known = [set().union(*nights[:end]) for end in range(len(nights) + 1)]
        new.append([len(earlier) < len(later) for earlier, later in pairwise(known)])
        kept += [index in nights[-1] for index in known[-1]]
    return np.array(new).T, kept


if __name__ == "__main__":
    main()
