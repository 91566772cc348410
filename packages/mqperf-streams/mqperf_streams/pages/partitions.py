"""Super streams: how evenly keys spread messages over partitions."""

from collections.abc import Iterator

from mqperf.pages.sections.section import Content, Section, View
from mqperf_numbered.pages import parts
from mqperf_streams.study.partitions import TABLE

WORDS = (
    "A message is published to the partition that the hash of its routing key chooses. Each"
    " partition has messages numbered from 0, which are to arrive once and in order."
)


def content(view: View) -> Iterator[Content]:
    """A row for each partition of a run."""
    about = "Partitions", "messages of each partition", WORDS
    return parts.content(view, TABLE, about, keep=4, order="partition")


SECTION = Section(TABLE.name, content)
