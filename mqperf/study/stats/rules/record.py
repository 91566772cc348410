"""The record of a run: whether it can be read, and is unchanged since it was written."""

from collections.abc import Iterator

from mqperf.study.stats.rules.finding import Finding, each, found, measured
from mqperf.study.tables import Tables


def unreadable_run(tables: Tables) -> Iterator[Finding]:
    """Runs with a damaged file: they are left out of all other tables and means."""
    runs = tables["runs"]
    for row in each(runs[runs["status"] == "unreadable"]):
        yield Finding(
            row.run,
            f"the run cannot be read and is in no figure: {str(row.failure).rstrip('.')}; restore"
            " the file from a backup, or remove the run folder and measure again",
            {"reason": str(row.failure)},
        )


def changed_record(tables: Tables) -> Iterator[Finding]:
    """Attempts with files that were changed or removed, or with the record of another case."""
    runs = tables["runs"]
    yield from found(
        runs[runs["damaged"].notna()],
        "recorded files were changed, removed or added since they were written: {damaged}",
    )
    case_in_name = runs["run"].str.replace(r"\.failed-\d+$", "", regex=True)
    yield from found(
        runs[(runs["case"] != case_in_name).fillna(value=False)],
        "the folder is not named after the case in its record, {case}: it was renamed, or the"
        " record is of another run",
        "case",
    )


def causality(tables: Tables) -> Iterator[Finding]:
    """Runs with messages that were received before they were sent."""
    frame = measured(tables)
    yield from found(
        frame[frame["causality_violations"] > 0],
        "{causality_violations} messages were finished before they were started, or answered before"
        " they were received",
        "causality_violations",
    )


def record_disagrees(tables: Tables) -> Iterator[Finding]:
    """Runs in which two records of the same run differ."""
    frame = measured(tables)
    yield from found(
        frame[frame["disagreements"].notna()],
        "two records of the same run differ: {disagreements}",
        "disagreements",
    )
