"""The section of quotas: how often each was used up in a run, which is a fact and no doubt."""

from collections.abc import Iterator

from mqperf.pages.sections import Content, Section, View
from mqperf.study.tables import Tables, tidy

SHOWN = ("host", "group", "quota_cores", "quota_memory_bytes", "throttled_share", "throttled_s")


def content(view: View) -> Iterator[Content]:
    """A row for each group of a run."""
    quotas = view.of_runs("quotas", "group")
    yield Content(
        heading="Quotas",
        words=[*_words(view.tables)],
        caption=view.caption("quotas of CPU"),
        rows=quotas,
        columns=view.columns(quotas, SHOWN, keep=()),
        key="run",
        data=tidy(quotas),
        counts_messages=True,
    )


def _words(tables: Tables) -> Iterator[str]:
    quotas = tables["quotas"]
    throttled = quotas[quotas["throttled_periods"].gt(0)]
    yield (
        "Each group may use this number of cores. A group that has used up its share of a period of"
        " 0.1 s waits for the next one."
    )
    if throttled.empty:
        yield "No group had to wait."
    else:
        share = 100 * throttled["throttled_share"].max()
        yield (
            f"In {throttled['run'].nunique()} of {quotas['run'].nunique()} runs a group had to"
            f" wait, in up to {share:.0f} % of the periods: latencies of these runs include these"
            " waits."
        )


SECTION = Section("quotas", content)
