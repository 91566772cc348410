"""Readers of the output of former OpenStack releases' simulators, which is as the current one's."""

from dataclasses import replace

from mqperf.study.load.simulator import READER
from mqperf_openstack.plan import simulators

OF_2024_1 = replace(READER, name=simulators.OF_2024_1.name)
OF_2025_1 = replace(READER, name=simulators.OF_2025_1.name)
OF_2026_1 = replace(READER, name=simulators.OF_2026_1.name)
