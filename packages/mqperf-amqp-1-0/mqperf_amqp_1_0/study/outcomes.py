"""The outcomes of messages as received by senders, compared with the record of every message."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from mqperf.plan import Case
from mqperf.plan.columns import REFUSALS, Table, count
from mqperf.record.outputs.diary import Diary, read_diary
from mqperf_amqp_1_0.plan.parameters import of_case
from mqperf_numbered.study.published import reader

if TYPE_CHECKING:
    from mqperf.study.tables.of_run import Reading

NAME = "amqp-1.0"
OUTCOMES = ("accepted", *REFUSALS, "unsettled")


def _outcomes(diary: Diary) -> dict[str, int]:
    return {name: diary.counts.get(name, 0) for name in OUTCOMES}


def wrong(case: Case, diary: Diary, recorded: Mapping[str, int]) -> Iterator[str]:
    """Yield if outcomes do not add up to sent messages, or differ from the recorded counts."""
    if diary.kind != "client" or of_case(case).pre_settled:
        return
    outcomes = _outcomes(diary)
    total = sum(outcomes.values())
    if total != recorded["sent"]:
        terms = " + ".join(f"{number} {name}" for name, number in outcomes.items())
        yield f"{terms} = {total}, but {recorded['sent']} were sent"
    refused = total - outcomes["accepted"] - outcomes["unsettled"]
    for name, stream, number in (
        ("accepted", "confirmed", outcomes["accepted"]),
        ("released, modified or rejected", "error", refused),
        *((refusal, refusal, outcomes[refusal]) for refusal in REFUSALS if refusal in recorded),
    ):
        if number != recorded.get(stream, 0):
            yield f"{number} {name}, but {recorded.get(stream, 0)} recorded as {stream}"


READER = reader(NAME, of_case, wrong)


def _rows(reading: "Reading") -> Iterator[dict[str, Any]]:
    run = reading.run
    if run.case.generator != NAME or of_case(run.case).pre_settled:
        return
    for process in run.facts.processes:
        diary = read_diary(NAME, run.folder, process.label)
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
