"""What processes wrote beside their counts, against the record of every message."""

from mqperf.record import Whole
from mqperf.record.outputs import diary as diary_file
from mqperf.record.streams.stream import ByProcess
from mqperf.study.load.reader import Account, LoadReader
from mqperf_numbered.study import backlog
from mqperf_streams.plan.parameters import GENERATOR, of_case


def account(run: Whole, streams: ByProcess) -> Account:
    """What happened to the processes; raises ``LoadError`` for a file that is damaged."""
    happened: list[diary_file.Happened] = []
    disagreements: list[str] = []
    for process in run.facts.processes:
        diary = diary_file.read_diary(GENERATOR.name, run.folder, process.label)
        happened += diary.happened()
        if process.kind != "client":
            continue
        recorded = {name: stream.count for name, stream in streams[process.label].items()}
        told = {name: diary.counts.get(name, 0) for name in ("refused", "unconfirmed")}
        if told["refused"] != recorded["error"]:
            disagreements.append(
                f"{process.label}: {told['refused']} refused, {recorded['error']} errors recorded"
            )
        if sum(told.values()) + recorded["confirmed"] != recorded["sent"]:
            disagreements.append(
                f"{process.label}: {recorded['confirmed']} confirmed + {told['refused']} refused +"
                f" {told['unconfirmed']} unconfirmed, but {recorded['sent']} were sent"
            )
    disagreements += backlog.disagreements(run, streams, happened)
    offered = of_case(run.case).offered_msg_s(run.case, run.window_in_load)
    return Account(offered_msg_s=offered, happened=happened, disagreements=disagreements)


READER = LoadReader(GENERATOR.name, account)
