"""What nodes told of their inside, as figures and tables."""

from mqperf.base.registry import Registry
from mqperf.study.probes.node_metrics import of_rabbitmq
from mqperf.study.probes.node_metrics.reader import InsideReader

__all__ = ["INSIDE_READERS", "InsideReader"]

INSIDE_READERS = Registry("inside_readers", (of_rabbitmq.READER,))
