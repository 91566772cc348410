"""What became of messages as senders were told it, against the record of every message."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from mqperf.plan.columns import REFUSALS, Table, count
from mqperf.record import Whole
from mqperf.record.outputs import diary as diary_file
from mqperf.record.outputs.diary import Diary, Happened
from mqperf.record.streams.stream import ByProcess
from mqperf.study.load.reader import Account, LoadReader
from mqperf_amqp_1_0.plan.parameters import of_case
from mqperf_numbered.study import backlog

if TYPE_CHECKING:
    from mqperf.study.tables.of_run import Reading

NAME = "amqp-1.0"
OUTCOMES = ("accepted", *REFUSALS, "unsettled")


def account(run: Whole, streams: ByProcess) -> Account:
    """What happened to the processes; raises ``LoadError`` for a file that is damaged."""
    happened: list[Happened] = []
    disagreements: list[str] = []
    parameters = of_case(run.case)
    for process in run.facts.processes:
        diary = diary_file.read_diary(NAME, run.folder, process.label)
        happened += diary.happened()
        if diary.kind == "client" and not parameters.pre_settled:
            recorded = {name: stream.count for name, stream in streams[process.label].items()}
            wrong = _wrong(_outcomes(diary), recorded)
            disagreements += [f"{process.label}: {reason}" for reason in wrong]
    disagreements += backlog.disagreements(run, streams, happened)
    return Account(
        offered_msg_s=parameters.offered_msg_s(run.case, run.window_in_load),
        happened=happened,
        disagreements=disagreements,
    )


def _outcomes(diary: Diary) -> dict[str, int]:
    return {name: diary.counts.get(name, 0) for name in OUTCOMES}


def _wrong(outcomes: Mapping[str, int], recorded: Mapping[str, int]) -> Iterator[str]:
    """Where the sum is not the whole, or the counts of outcomes are not those of the record."""
    total = sum(outcomes.values())
    if total != recorded["sent"]:
        parts = " + ".join(f"{number} {name}" for name, number in outcomes.items())
        yield f"{parts} = {total}, but {recorded['sent']} were sent"
    refused = total - outcomes["accepted"] - outcomes["unsettled"]
    for name, stream, number in (
        ("accepted", "confirmed", outcomes["accepted"]),
        ("released, modified or rejected", "error", refused),
        *((refusal, refusal, outcomes[refusal]) for refusal in REFUSALS if refusal in recorded),
    ):
        if number != recorded.get(stream, 0):
            yield f"{number} {name}, but {recorded.get(stream, 0)} recorded as {stream}"


READER = LoadReader(NAME, account)


def _rows(reading: "Reading") -> Iterator[dict[str, Any]]:
    run = reading.run
    if run.case.generator != NAME or of_case(run.case).pre_settled:
        return
    for process in run.facts.processes:
        diary = diary_file.read_diary(NAME, run.folder, process.label)
        if diary.kind == "client":
            sent = reading.streams.recorded[process.label]["sent"].count
            yield {"process": process.label, "sent": sent, **_outcomes(diary)}


TABLE = Table(
    "outcomes",
    "a client process of AMQP 1.0 in a run, where receivers settle messages",
    (
        "process",
        count("sent", "Messages that it handed over: the sum of all outcomes."),
        count("accepted", "Messages that receivers accepted, as their sender was told."),
        count("released", "Messages that were given back, and may be sent to others."),
        count("modified", "Messages that were given back as perhaps tried already."),
        count("rejected", "Messages that receivers, or the broker, cannot deal with."),
        count("unsettled", "Messages of which nobody told their sender what became of them."),
    ),
    rows=_rows,
)
