"""What processes wrote beside their counts, against the record of every message."""

from mqperf_numbered.study.published import reader
from mqperf_streams.plan.parameters import GENERATOR, of_case

READER = reader(GENERATOR.name, of_case)
