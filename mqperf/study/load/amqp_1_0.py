"""What became of messages as senders were told it, against the record of every message."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from mqperf.plan.load.amqp_1_0 import of_case
from mqperf.record import Whole
from mqperf.record.outputs import diary as diary_file
from mqperf.study.load.reader import Account, LoadReader

if TYPE_CHECKING:
    from mqperf.record.outputs.diary import Happened
    from mqperf.record.streams.stream import ByProcess

NAME = "amqp-1.0"
REFUSALS = ("released", "modified", "rejected")
OUTCOMES = ("accepted", *REFUSALS, "unsettled")


def account(run: Whole, streams: "ByProcess") -> Account:
    """What happened to the processes, and the table ``outcomes``.

    Raises ``LoadError`` for a file that is damaged.
    """
    happened: list[Happened] = []
    disagreements: list[str] = []
    rows: list[Mapping[str, Any]] = []
    parameters = of_case(run.case)
    settled = parameters.settlement == "pre-settled"
    for process in run.facts.processes:
        diary = diary_file.read_diary(NAME, run.folder, process.label)
        happened += diary.happened()
        if diary.kind != "client":
            continue
        told = {name: diary.counts.get(name, 0) for name in OUTCOMES}
        recorded = {name: one.count for name, one in streams[process.label].items()}
        if not settled:
            disagreements += [f"{process.label}: {one}" for one in _wrong(told, recorded)]
            rows.append({"process": process.label, "sent": recorded["sent"], **told})
    return Account(
        offered_msg_s=parameters.offered_msg_s(run.case, run.window_in_load),
        happened=happened,
        disagreements=disagreements,
        tables={"outcomes": rows},
    )


def _wrong(told: Mapping[str, int], recorded: Mapping[str, int]) -> Iterator[str]:
    """Where the sum is not the whole, or the counts of outcomes are not those of the record."""
    total = sum(told.values())
    if total != recorded["sent"]:
        parts = " + ".join(f"{count} {name}" for name, count in told.items())
        yield f"{parts} = {total}, but {recorded['sent']} were sent"
    refused = total - told["accepted"] - told["unsettled"]
    for name, stream, count in (
        ("accepted", "confirmed", told["accepted"]),
        ("released, modified or rejected", "error", refused),
        *((one, one, told[one]) for one in REFUSALS if one in recorded),
    ):
        if count != recorded.get(stream, 0):
            yield f"{count} {name}, but {recorded.get(stream, 0)} recorded as {stream}"


READER = LoadReader("amqp-1.0", account)
