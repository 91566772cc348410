"""How often the intervals hold the truth, what the tests find, and how often they accuse wrongly.

    ./noxw -s benchmarks -- simulated [--quick] [--write] [PART ...]

Series, runs and sweeps are invented of which the truth is known, and judged by mqperf's own
functions.  Shares are in per cent of trials, ± their standard error; the same seed gives the same
tables.  ``--quick`` takes a tenth of the trials.  ``--write`` keeps the tables in ``docs/_data``,
from which the methodology shows them.  The parts are the tables below; without one, all.
"""

import sys
import time
from pathlib import Path

import numpy as np
from simulations import comparing, deciding, following, searching, sweeps, within_run

SEED = 1
DATA = Path(__file__).parent.parent / "docs/_data"

TABLES = {
    part.__name__.replace("_", "-"): part
    for part in (
        within_run.throughputs,
        within_run.latencies,
        comparing.over_repeats,
        comparing.false_verdicts,
        comparing.differences_found,
        sweeps.peaks,
        sweeps.saturation,
        sweeps.best,
        sweeps.drifts,
        sweeps.controls,
        sweeps.spreads,
        sweeps.warmups,
        searching.searches,
        searching.busy_hosts,
        following.no_change,
        following.steps_found,
        following.long_histories,
        deciding.decided_wrongly,
        deciding.decided_unevenly,
        deciding.decided_runs,
    )
}


def main(arguments: list[str]) -> None:
    """Print the requested tables, or all."""
    options = {argument for argument in arguments if argument.startswith("-")}
    names = [argument for argument in arguments if argument not in options] or list(TABLES)
    if unknown := {*names} - {*TABLES} | options - {"--quick", "--write"}:
        sys.exit(
            f"no {', '.join(sorted(unknown))}; there are: --quick, --write, {', '.join(TABLES)}"
        )
    if options >= {"--quick", "--write"}:
        sys.exit("--quick is too coarse for the documentation: write without it")
    for name in names:
        begin = time.monotonic()
        result = TABLES[name](np.random.default_rng(SEED), 0.1 if "--quick" in options else 1)
        if "--write" in options:
            result.to_csv(DATA / f"simulated-{name}.csv", index=False, lineterminator="\n")
        print(f"{TABLES[name].__doc__}\n\n{result.to_string(index=False)}")
        print(f"\n{time.monotonic() - begin:.0f} s\n", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
