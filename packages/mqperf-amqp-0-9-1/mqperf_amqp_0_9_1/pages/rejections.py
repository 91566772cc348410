"""Consumers that reject: what became of their deliveries."""

from collections.abc import Iterator

from mqperf.pages.sections.section import Content, Section, View
from mqperf_amqp_0_9_1.study.rejections import TABLE
from mqperf_numbered.pages import parts

WORDS = (
    "Consumers reject the share of deliveries that the plan asks for, and the broker delivers these"
    " messages again, or passes them on as dead letters. All counts are of the whole load."
)


def content(view: View) -> Iterator[Content]:
    """A row for each run."""
    about = "Rejections and dead letters", "rejections and dead letters", WORDS
    return parts.content(view, TABLE, about, keep=5, order="run")


SECTION = Section(TABLE.name, content)
