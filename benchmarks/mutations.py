"""Reading of damaged run folders: no traceback, no hang, and no number that changes silently.

    ./noxw -s benchmarks -- mutations [COUNT [SEED]]

Copies of recorded runs are damaged in COUNT ways (1200 unless given), drawn by SEED, and read.  A
run must then have the same numbers as before, or be named by a doubt, or be unreadable with a
reason.  Damages are made in three manners: all checksums left as they were; those of the files
updated, but not the seal of ``run.json``; and all of them updated, as if the run were recorded
anew.  The last one is judged beside the undamaged runs of its set, and only it may be silent, for
one of the ``REASONS`` why the data cannot show it; such changes are listed.  Every fiftieth damaged
run is read beside a good one, whose numbers must not change, with all doubts.
"""

import random
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal

import pandas as pd
from damaging.damages import MANNERS, RUNS, SAMPLES, Manner, Mutation, make_right, mutate, remove

from mqperf.base.errors import MqperfError
from mqperf.plan.columns import COLUMNS
from mqperf.record import Run
from mqperf.study import tables
from mqperf.study.stats import checks
from mqperf.study.tables.batches import read_attempts

TIMEOUT_S = 120
BESIDE = 50
SETS = ("mixed-hosts", "mixed-versions", "overlapping-runs", "copied-run")

Outcome = Literal[
    "same", "doubt", "unreadable", "not shown", "SILENT", "TRACEBACK", "HANG", "GOOD RUN CHANGED"
]
BAD: tuple[Outcome, ...] = ("SILENT", "TRACEBACK", "HANG", "GOOD RUN CHANGED")

ABSENT = "a figure or word is gone, and nothing is printed in its place"
TEXT = "a text, no number: no second recording of it"
REASONS: dict[tuple[str, str], str] = {
    ("cpu", "total_cores"): "a counter of one process, within bounds: no second recording of it",
    ("cpu", "sys_cores"): "a counter of one process, within bounds: no second recording of it",
    ("cpu", "start_s"): "the instant of a sample, within bounds: no second recording of it",
    ("cpu", "end_s"): "the instant of a sample, within bounds: no second recording of it",
    ("cpu", "rss_bytes"): "memory of a process during the load: no second recording of it",
    ("network", "sent_bytes_s"): "traffic of a card: no second recording of it",
    ("network", "received_bytes_s"): "traffic of a card: no second recording of it",
    ("network", "speed_bytes_s"): "speed of a card: no second recording of it",
    ("network", "retransmitted_share"): "segments of TCP: no second recording of them",
    ("events", "time_s"): "the instant of an event, between its neighbours: no second recording",
    ("runs", "memory_bytes"): "less than 1 % of the memory, as a restart may change it",
    ("runs", "position"): "the place in the sweep: no second recording of it",
    ("runs", "seed"): "the seed of the order: no second recording of it",
    ("runs", "content"): "a checksum",
}
"""Table and column of a number -> why nothing that was recorded contradicts another value."""


class Hang(BaseException):
    """The reader took too long."""


def main(arguments: list[str]) -> None:
    """Damage runs, read them, count the outcomes; exit with 1 if there is a bad one."""
    count = int(arguments[0]) if arguments else 1200
    seed = int(arguments[1]) if len(arguments) > 1 else 0
    outcomes: Counter[tuple[Manner, Outcome]] = Counter()
    silent: Counter[str] = Counter()
    wrong = 0
    for mutation, outcome, detail in campaign(count, seed):
        outcomes[mutation.manner, outcome] += 1
        if not outcomes.total() % 100:
            print(f"{outcomes.total()} damages", file=sys.stderr, flush=True)
        if outcome == "not shown":
            silent[detail] += 1
        elif outcome in BAD:
            wrong += 1
            print(f"{outcome}: {mutation}\n{detail}", flush=True)
    for manner in MANNERS:
        counts = {name: n for (of, name), n in sorted(outcomes.items()) if of == manner}
        print(f"{manner:16} {sum(counts.values()):5} damages: {counts}")
    for why, number in silent.most_common():
        print(f"  not shown: {number:4} {why}")
    sys.exit(1 if wrong else 0)


def campaign(count: int, seed: int) -> Iterator[tuple[Mutation, Outcome, str]]:
    """Yield every damage with its outcome, and the traceback or the numbers that changed."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="mqperf-mutations-") as scratch:
        folder = Path(scratch)
        for number in range(count):
            name = rng.choice(RUNS)
            run = folder / name
            shutil.copytree(sealed(folder, name), run)
            mutation = mutate(run, rng, MANNERS[number % len(MANNERS)])
            beside = number % BESIDE == 0
            outcome, detail = read(run, beside=beside, anew=mutation.manner == "recorded anew")
            yield mutation, outcome, detail
            remove(run)


@cache
def sealed(folder: Path, name: str) -> Path:
    """Return a copy of a recorded run with a seal in ``run.json``, as today's runner writes it."""
    copy = folder / "originals" / name
    shutil.copytree(SAMPLES / name, copy)
    make_right(copy, "recorded anew")
    return copy


@cache
def original(path: Path) -> tuple[dict[str, pd.DataFrame], frozenset[tuple[str, str]]]:
    """Return the tables of an undamaged run, and the doubts about it."""
    (attempt,) = read_attempts([Run(path, path.name, "done")])
    frames = {name: frame.copy() for name, frame in attempt.frames.items()}
    return frames, doubts(tables.of_runs([Run(path, path.name, "done")]))


def doubts(frames: dict[str, pd.DataFrame]) -> frozenset[tuple[str, str]]:
    """Return kind and text of every doubt about these tables."""
    frame = checks.doubts(frames)
    return frozenset(zip(frame["kind"], frame["text"], strict=True))


def read(path: Path, *, beside: bool, anew: bool) -> tuple[Outcome, str]:
    """Read the damaged run within a time limit, and return the outcome."""

    def too_long(_number: int, _frame: object) -> None:
        raise Hang

    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(TIMEOUT_S)
    try:
        return _read(path, beside=beside, anew=anew)
    except Hang:
        return "HANG", ""
    except Exception:  # noqa: BLE001 (a traceback is what is looked for)
        return "TRACEBACK", traceback.format_exc()
    finally:
        signal.alarm(0)


def _read(path: Path, *, beside: bool, anew: bool) -> tuple[Outcome, str]:
    run = Run(path, path.name, "done")
    whole = path.parent / "originals" / path.name
    frames, known = original(whole)
    if beside and (changed := _good_run_changed(run)):
        return "GOOD RUN CHANGED", changed
    (attempt,) = read_attempts([run])
    if attempt.problem is not None:
        return "unreadable", attempt.problem
    different = dict(_different(frames, dict(attempt.frames)))
    if not different:
        return "same", ""
    if attempt.frames["runs"]["damaged"].notna().any():
        return "doubt", "changed-record"
    return _judged(run, known, different, anew=anew)


def _judged(
    run: Run,
    known: frozenset[tuple[str, str]],
    different: dict[str, str | None],
    *,
    anew: bool,
) -> tuple[Outcome, str]:
    """Judge a run with changed numbers: doubted, not contradicted by any record, or silent."""
    try:
        new = doubts(tables.of_runs([run])) - known
    except MqperfError as error:
        return "unreadable", str(error)
    if new or (anew and _of_another_set(run)):
        return "doubt", ""
    if anew and None not in different.values():
        return "not shown", "; ".join(sorted({str(why) for why in different.values()}))
    return "SILENT", ", ".join(place for place, why in different.items() if why is None)


def _of_another_set(run: Run) -> bool:
    """Whether a doubt says that the run differs from the others of its set."""
    others = [sealed(run.path.parent, name) for name in RUNS if name != run.path.name]
    frame = checks.doubts(tables.of_runs([run, *(Run(p, p.name, "done") for p in others)]))
    return bool((frame["run"].eq(run.id) & frame["kind"].isin(SETS)).any())


def _good_run_changed(run: Run) -> str:
    """Return the table in which a good run changes by the damaged one beside it; empty for none."""
    name = next(name for name in RUNS if name != run.path.name)
    good = Run(sealed(run.path.parent, name), name, "done")
    alone = tables.of_runs([good])
    together = tables.of_runs([good, run])
    checks.doubts(together)
    for table, frame in alone.items():
        same = together[table][together[table]["run"] == name].reset_index(drop=True)
        if not same.equals(frame):
            return table
    return ""


def _different(
    before: dict[str, pd.DataFrame], after: dict[str, pd.DataFrame]
) -> Iterator[tuple[str, str | None]]:
    """Yield columns with changed values, and why no record contradicts them; None if one must.

    Rows that are gone are absent; rows that are added are numbers of their own.
    """
    for name, frame in before.items():
        other = after.get(name, pd.DataFrame())
        if len(frame) != len(other) or list(frame.columns) != list(other.columns):
            yield name, ABSENT if other.empty and name == "network" else None
            continue
        for column in frame.columns:
            unlike = ~(
                frame[column].eq(other[column]) | (frame[column].isna() & other[column].isna())
            )
            if unlike.any():
                yield f"{name}: {column}", _why(name, str(column), other.loc[unlike, column])


def _why(table: str, column: str, now: pd.Series) -> str | None:
    """Return why no record contradicts these values; None if one must."""
    if now.isna().all():
        return ABSENT
    reason = REASONS.get((table, column))
    return TEXT if reason is None and COLUMNS[column].dtype == "string" else reason


if __name__ == "__main__":
    main(sys.argv[1:])
