"""What publishers and consumers wrote beside their counts, against the record of every message."""

from collections.abc import Callable
from functools import partial

from mqperf.plan import Case
from mqperf.record import Whole
from mqperf.record.outputs import diary as diary_file
from mqperf.record.streams.stream import ByProcess
from mqperf.study.load.reader import Account, LoadReader
from mqperf_numbered.plan.paced import Paced
from mqperf_numbered.study import backlog


def reader(generator: str, of_case: Callable[[Case], Paced]) -> LoadReader:
    """That of a generator."""
    return LoadReader(generator, partial(account, generator, of_case))


def account(
    generator: str, of_case: Callable[[Case], Paced], run: Whole, streams: ByProcess
) -> Account:
    """What happened to the processes; raises ``LoadError`` for a file that is damaged.

    Of messages whose confirm was asked for, each is confirmed, refused, or neither.
    """
    happened: list[diary_file.Happened] = []
    disagreements: list[str] = []
    for process in run.facts.processes:
        diary = diary_file.read_diary(generator, run.folder, process.label)
        happened += diary.happened()
        if process.kind != "client":
            continue
        recorded = {name: stream.count for name, stream in streams[process.label].items()}
        told = {name: diary.counts.get(name, 0) for name in ("refused", "unconfirmed")}
        if told["refused"] != recorded["error"]:
            disagreements.append(
                f"{process.label}: {told['refused']} refused, {recorded['error']} errors recorded"
            )
        confirmed = recorded.get("confirmed")
        if confirmed is not None and sum(told.values()) + confirmed != recorded["sent"]:
            disagreements.append(
                f"{process.label}: {confirmed} confirmed + {told['refused']} refused +"
                f" {told['unconfirmed']} unconfirmed, but {recorded['sent']} were sent"
            )
    disagreements += backlog.disagreements(run, streams, happened)
    offered = of_case(run.case).offered_msg_s(run.case, run.window_in_load)
    return Account(offered_msg_s=offered, happened=happened, disagreements=disagreements)
