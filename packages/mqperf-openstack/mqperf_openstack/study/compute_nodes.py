"""What happened to the processes: it is all that they tell beside the record of every message."""

from mqperf.record import Whole
from mqperf.record.outputs.diary import read_diary
from mqperf.record.streams.stream import ByProcess
from mqperf.study.load import Account, LoadReader
from mqperf_openstack.plan.compute_nodes import GENERATOR


def account(run: Whole, _streams: ByProcess) -> Account:
    """The events of their diaries; raises ``LoadError`` for a file that is damaged."""
    diaries = (
        read_diary(GENERATOR.name, run.folder, process.label) for process in run.facts.processes
    )
    return Account(happened=[event for diary in diaries for event in diary.happened()])


READER = LoadReader(GENERATOR.name, account)
