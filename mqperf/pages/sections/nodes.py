"""Section on the CPU of every node at every point."""

from collections.abc import Iterator

from mqperf.pages.report import drawings
from mqperf.pages.sections import rows
from mqperf.pages.sections.section import Content, Section, View
from mqperf.plan.columns import COLUMNS
from mqperf.study.tables import tidy, with_parameters


def content(view: View) -> Iterator[Content]:
    """Yield a table with a row per point, and a column per process and figure: ``rows.wide``."""
    if not (view.tables["cpu"]["kind"] == "broker").any():
        return
    system = view.layout.system_title
    caption = f"{system} nodes CPU consumption during {view.case.title} load test"
    cpu = with_parameters(view.tables["cpu"], view.tables["runs"])
    used = rows.nodes(cpu)
    wide = rows.wide(used)
    has_others = (used["kind"] != "broker").any()
    yield Content(
        heading=f"Detailed {system} CPU consumption",
        words=[
            "CPU of each node over the measured window: total, and its system part.",
            *(["Load generator and host are shown beside them."] if has_others else []),
        ],
        caption=caption,
        rows=wide.reset_index(),
        columns={name: _heading(name) for name in wide.columns},
        key="point",
        drawing=drawings.nodes(caption, cpu),
        data=tidy(used),
    )


def _heading(name: str) -> str:
    column, _, process = name.partition(" ")
    return COLUMNS[column].heading(process)


SECTION = Section("nodes", content)
