"""The events of the processes, which are their only output beside the record of every message."""

from mqperf.record import Whole
from mqperf.record.outputs.diary import read_diary
from mqperf.record.streams.stream import ByProcess
from mqperf.study.load import Account, LoadReader
from mqperf_openstack.plan.compute_nodes import GENERATOR


def account(run: Whole, _streams: ByProcess) -> Account:
    """Return the events of the processes' diaries; raise ``LoadError`` for a damaged file."""
    diaries = (
        read_diary(GENERATOR.name, run.folder, process.label) for process in run.facts.processes
    )
    return Account(happened=[event for diary in diaries for event in diary.happened()])


READER = LoadReader(GENERATOR.name, account)
