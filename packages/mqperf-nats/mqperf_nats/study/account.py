"""What processes wrote beside their counts, against the record of every message."""

from mqperf_nats.plan.parameters import GENERATOR, of_case
from mqperf_numbered.study.published import reader

READER = reader(GENERATOR.name, of_case)
