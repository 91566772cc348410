"""What happened to the processes: it is all that they tell beside the record of every message."""

from mqperf.record import Whole
from mqperf.record.outputs import diary as diary_file
from mqperf.record.streams.stream import ByProcess
from mqperf.study.load.reader import Account, LoadReader

NAME = "compute-nodes"


def account(run: Whole, _streams: ByProcess) -> Account:
    """The events of their diaries; raises ``LoadError`` for a file that is damaged."""
    labels = [process.label for process in run.facts.processes]
    diaries = [diary_file.read_diary(NAME, run.folder, label) for label in labels]
    return Account(happened=[one for diary in diaries for one in diary.happened()])


READER = LoadReader("compute-nodes", account)
