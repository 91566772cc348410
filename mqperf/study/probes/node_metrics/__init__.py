"""Internal metrics that nodes report, as figures and tables."""

from mqperf.base.registry import Registry
from mqperf.study.probes.node_metrics.reader import InsideReader

__all__ = ["INSIDE_READERS", "InsideReader"]

INSIDE_READERS: Registry[InsideReader] = Registry("inside_readers")
