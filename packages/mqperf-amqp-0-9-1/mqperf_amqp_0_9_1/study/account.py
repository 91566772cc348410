"""What processes wrote beside their counts, against the record of every message."""

from mqperf.record import Whole
from mqperf.record.outputs import diary as diary_file
from mqperf.record.streams.stream import ByProcess
from mqperf.study.load.reader import Account, LoadReader
from mqperf_amqp_0_9_1.plan.parameters import of_case
from mqperf_numbered.study import backlog

NAME = "amqp-0-9-1"


def account(run: Whole, streams: ByProcess) -> Account:
    """What happened to the processes; raises ``LoadError`` for a file that is damaged."""
    happened: list[diary_file.Happened] = []
    disagreements: list[str] = []
    for process in run.facts.processes:
        diary = diary_file.read_diary(NAME, run.folder, process.label)
        happened += diary.happened()
        if (error := streams[process.label].get("error")) is not None:
            counted = sum(diary.counts.get(name, 0) for name in ("returned", "refused"))
            if counted != error.count:
                disagreements.append(
                    f"{process.label}: {counted} returned or refused, {error.count} errors recorded"
                )
    disagreements += backlog.disagreements(run, streams, happened)
    offered = of_case(run.case).offered_msg_s(run.case, run.window_in_load)
    return Account(offered_msg_s=offered, happened=happened, disagreements=disagreements)


READER = LoadReader("amqp-0-9-1", account)
