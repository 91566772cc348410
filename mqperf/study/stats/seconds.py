"""Tables without their rows of single seconds, which are most of the rows of a run.

Few rules need these rows, and each only those of one run at a time: their intermediate results are
kept instead, so that the doubts about thousands of runs need only the other tables in memory.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import pandas as pd

from mqperf.base import processes
from mqperf.plan.columns import TABLES
from mqperf.study.stats.complete import complete
from mqperf.study.stats.rules import cpu, stairs, window
from mqperf.study.tables import Tables, read, write
from mqperf.study.tables.batches import Reduce
from mqperf.study.tables.given import writing
from mqperf.study.tables.parts import write_parts

STAND_INS = (cpu.SAMPLED, window.UNDISTURBED, stairs.OVERLOADED)
"""The tables of intermediate results that replace them, for the rules alone."""


def without_seconds(tables: Tables) -> Tables:
    """The tables without the rows of single seconds; ``cpu`` keeps those over the window.

    A process that has none keeps a single row, so that it is known to have been sampled.
    """
    used = tables["cpu"]
    over_window = used["scope"].eq("window").fillna(value=False)
    with_window = pd.MultiIndex.from_frame(used.loc[over_window, cpu.PROCESS])
    first = ~used.duplicated(cpu.PROCESS)
    lone = first & ~pd.MultiIndex.from_frame(used[cpu.PROCESS]).isin(with_window)
    stand_ins = {
        cpu.SAMPLED: cpu.sampled(tables),
        window.UNDISTURBED: window.undisturbed(tables),
        stairs.OVERLOADED: stairs.overloaded(tables),
    }
    empty = {name: tables[name].iloc[:0] for name in by_second() if name != "cpu"}
    return {**tables, **stand_ins, **empty, "cpu": used[over_window | lone].reset_index(drop=True)}


def read_complete(path: Path) -> dict[str, pd.DataFrame]:
    """All tables of ``path`` with their doubts, without the rows of single seconds.

    Their size grows with the number of runs, not with the length of these.
    """
    return _completed(path, without_seconds)


def write_complete(
    path: Path, folder: Path, form: str
) -> tuple[dict[str, pd.DataFrame], list[Path]]:
    """Write all tables of ``path`` into the folder, with the rows of single seconds.

    Return the tables without these, and the files.  Raises ``TableError`` when one cannot be
    written.
    """
    with _new_folder(folder), processes.scratch_beside(folder / "parts") as parts:
        completed = _completed(path, partial(_seconds_written, folder=parts, form=form))
        return completed, write(completed, folder, form, parts)


@contextmanager
def _new_folder(folder: Path) -> Iterator[None]:
    """Make the folder if it does not exist, and remove it again if the context fails."""
    new = not folder.exists()
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        if new:
            with suppress(OSError):  # it is not empty
                folder.rmdir()
        raise


def _seconds_written(tables: Tables, *, folder: Path, form: str) -> Tables:
    """The result of ``without_seconds``, with the rows of single seconds written to files."""
    write_parts(tables, by_second(), folder, form)
    return without_seconds(tables)


def by_second() -> list[str]:
    """The tables with rows of single seconds."""
    return [name for name, table in TABLES.items() if table.by_second]


def _completed(path: Path, reduce: Reduce) -> dict[str, pd.DataFrame]:
    completed = complete(read(path, reduce))
    return {name: frame for name, frame in completed.items() if name not in STAND_INS}
