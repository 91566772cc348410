"""Readers that compare what processes counted with the record of every message."""

from mqperf_activemq.plan.parameters import CORE, OPENWIRE, STOMP, of_case
from mqperf_numbered.study.published import reader

STOMP_READER, OPENWIRE_READER, CORE_READER = (
    reader(generator.name, of_case) for generator in (STOMP, OPENWIRE, CORE)
)
