"""The sections of a test case, in the order of a page; packages register further ones."""

from collections.abc import Iterator
from functools import partial

from mqperf.base.errors import MqperfError
from mqperf.base.registry import Registry
from mqperf.pages.report.words import layouts
from mqperf.pages.sections import (
    actions,
    background,
    factors,
    messages,
    node_summary,
    nodes,
    offered_rates,
    percentiles,
    points,
    rate_steps,
    searches,
    seconds,
)
from mqperf.pages.sections.section import Content, Section, View
from mqperf.plan.test_cases import TEST_CASES
from mqperf.study.tables import Selection, Tables, where

__all__ = ["SECTIONS", "Content", "Section", "View", "shown", "views"]

SECTIONS: Registry[Section] = Registry(
    "sections",
    (
        messages.SECTION,
        points.SECTION,
        offered_rates.SECTION,
        rate_steps.SECTION,
        searches.SECTION,
        searches.ENDED_EARLY,
        percentiles.SECTION,
        nodes.SECTION,
        seconds.SECTION,
        seconds.IN_TIME,
        node_summary.SECTION,
        actions.SECTION,
        actions.PHASES,
        factors.SECTION,
        background.SECTION,
    ),
)


def shown(tables: Tables, section: str, test_case: str = "") -> Iterator[tuple[View, Content]]:
    """Yield the content of one section for each measured test case, or one, on each layout.

    Raises ``MqperfError`` for an unknown section or test case.
    """
    if section not in SECTIONS:
        raise MqperfError(f"no section {section!r}; there are: {', '.join(SECTIONS)}")
    if test_case and test_case not in TEST_CASES:
        raise MqperfError(f"no test case {test_case!r}; there are: {', '.join(TEST_CASES)}")
    for view in views(tables, test_case):
        for content in SECTIONS[section].of(view):
            yield view, content


def views(tables: Tables, test_case: str = "") -> Iterator[View]:
    """Yield a view of each measured test case, or of one, on each layout."""
    measured = tables["points"].dropna(subset=["throughput_msg_s"])
    for case in [test_case] if test_case else TEST_CASES:
        for layout in layouts(where(tables["runs"], test_case=case)):
            if len(layout.of(measured, case)):
                yield View(layout, case, Selection(tables, partial(layout.of, test_case=case)))
