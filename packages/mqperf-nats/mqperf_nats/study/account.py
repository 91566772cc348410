"""What processes wrote beside their counts, against the record of every message."""

from functools import partial

from mqperf.study.load.reader import LoadReader
from mqperf_nats.plan.parameters import GENERATOR, of_case
from mqperf_numbered.study import published

READER = LoadReader(GENERATOR.name, partial(published.account, GENERATOR.name, of_case))
