"""The section on the distribution of messages over the partitions of super streams."""

from mqperf_numbered.pages import parts
from mqperf_streams.study.partitions import TABLE

WORDS = (
    "A message is published to the partition that the hash of its routing key chooses. Each"
    " partition has messages numbered from 0, which must arrive once and in order."
)

ABOUT = "Partitions", "messages of each partition", WORDS

SECTION = parts.section(TABLE, ABOUT, keep=4, order="partition")
