"""The contents of report sections, for tests."""

from mqperf.pages.report.words import Layout
from mqperf.pages.sections import SECTIONS, Content, View
from mqperf.study.tables import Tables

CMSM = Layout("rabbitmq", "RabbitMQ", "cmsm", "classic")


def contents(frames: Tables, section: str, test_case: str, layout: Layout = CMSM) -> list[Content]:
    """The contents of a section for one test case on one layout."""
    return [*SECTIONS[section].of(View(layout, test_case, frames))]
