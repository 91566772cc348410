"""What each load generator's own output says of a run."""

from mqperf.base.registry import Registry
from mqperf.record import Whole
from mqperf.record.streams.stream import ByProcess
from mqperf.study.load import amqp_0_9_1, amqp_1_0, simulator
from mqperf.study.load.reader import Account, LoadReader

__all__ = ["LOAD_READERS", "Account", "LoadReader", "account_of"]

LOAD_READERS = Registry("load_readers", (simulator.READER, amqp_0_9_1.READER, amqp_1_0.READER))


def account_of(run: Whole, streams: ByProcess) -> Account:
    """What the generator of a run says itself; nothing, if it counts nothing beside the record."""
    reader = LOAD_READERS.get(run.case.generator)
    return Account() if reader is None else reader.account(run, streams)
