"""Read the logs of probes of a run: tables, events, and contradictions."""

from mqperf.base.registry import Registry
from mqperf.study.probes import broker_log, psutil_tables
from mqperf.study.probes.node_metrics import tables
from mqperf.study.probes.reader import ProbeReader

__all__ = ["PROBE_READERS", "ProbeReader"]

PROBE_READERS = Registry("probe_readers", (psutil_tables.READER, tables.READER, broker_log.READER))
