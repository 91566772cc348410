"""The RST of a report: the overview page, the methods, a page per system, a page per layout.

Every folder refers only to itself and to folders below it, so that any subtree can be moved into
another tree unchanged.
"""

import gzip
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, groupby
from pathlib import Path

import pandas as pd

from mqperf.base.one_line import one_line
from mqperf.pages.questions import ANSWERS, Answer, answers
from mqperf.pages.questions.first_screen import first_screen
from mqperf.pages.report import (
    control_runs,
    drawings,
    hosts,
    methods,
    overview,
    quality,
    rst,
    run_sheets,
    saturation,
    side_by_side,
)
from mqperf.pages.report.environment import environment
from mqperf.pages.report.explorers import FOLDER, explorers
from mqperf.pages.report.notebooks import Executed, publish
from mqperf.pages.report.page import page
from mqperf.pages.report.pictures.topology import describe, picture
from mqperf.pages.report.tops import tops
from mqperf.pages.report.words import Layout, generator, known_cases, left_out
from mqperf.pages.report.writer import Writer
from mqperf.pages.sections import forms
from mqperf.plan.columns import TABLES
from mqperf.plan.file import public
from mqperf.record import PLAN
from mqperf.study.tables import (
    Selection,
    Tables,
    all_attempts,
    of_plan,
    plan_of,
    select,
    where,
    write,
)
from mqperf.study.tables.shape import python_strings

PLAIN_BYTES = 1_000_000
"""Larger CSV files are compressed: tables with a row per second, of many or long runs."""

Systems = Mapping[str, Sequence[Layout]]
"""System -> its layouts, in their order."""


@dataclass(frozen=True, slots=True)
class Contents:
    """Content of a report besides its tables: a title, and executed notebooks.

    ``source`` is the folder that the tables were read from: with it runs are drawn over time.
    """

    title: str
    notebooks: Executed = dict
    source: Path | None = None


@python_strings
def write_source(tables: Tables, tried: Sequence[Layout], out: Path, contents: Contents) -> None:
    """Write everything but the HTML into the empty folder ``out``."""
    title = one_line(contents.title) or out.name
    files = dict(zip(tables, _write_tables(tables, out / "tables"), strict=True))
    filled = [
        {"name": name, "row": TABLES[name].row, "csv": files[name]}
        for name, frame in tables.items()
        if len(frame)
    ]
    unknown = list(left_out(all_attempts(tables)))
    tables = of_plan(known_cases(tables))
    best = tops(tables, tried)
    by_system = groupby(tried, key=lambda layout: layout.system)
    systems = {name: list(system_layouts) for name, system_layouts in by_system}
    source = contents.source
    plan, unread = (None, "") if source is None else plan_of(source)
    writer = Writer({} if source is None else explorers(tables, source), plan)
    if plan_text := public((source / PLAN).read_text(encoding="utf-8")) if source and plan else "":
        (out / PLAN).write_text(plan_text, encoding="utf-8")
    screen = first_screen(tables, plan, unread)
    for system, layouts in systems.items():
        of_system = select(tables, system=system)
        answered = screen.answers
        if len(systems) > 1:
            answered = [*answers(of_system, () if plan is None else plan.question)]
        context = _system(of_system, layouts, where(best, system=system), out / system, writer)
        context |= {"answers": answered, "grids": [] if context["sweep"] else [*_grids(answered)]}
        context["label"] = rst.Text(f"mqperf_{rst.slug(title)}_{rst.name(system)}")
        writer.render("system.rst", out / system / "index.rst", context)
    _write_methods(tables, systems, out / "methods", writer, plan_text)
    for answer in screen.answers:
        if answer.drawing is not None:
            writer.draw(answer.drawing, out)
    context = _overview(tables, systems) | {
        "screen": screen,
        "grids": [*_grids(screen.answers)],
        "unknown": unknown,
        "tables": filled,
        "plan": plan_text and PLAN,
        "report_title": title,
    }
    writer.finish()
    context["notebooks"] = [
        publish(notebook, out / "notebooks", missing)
        for notebook, missing in contents.notebooks().items()
    ]
    writer.render("index.rst", out / "index.rst", context)
    facts = {"format": "mqperf-report", "version": 1, "title": title, "systems": list(systems)}
    writer.furnish(out, facts)


def _write_tables(tables: Tables, folder: Path) -> Iterator[str]:
    """Write the tables, and yield the name of the CSV file of each; large ones are gzipped."""
    write(tables, folder, "parquet")
    for file in write(tables, folder, "csv"):
        if file.stat().st_size > PLAIN_BYTES:
            compressed = gzip.compress(file.read_bytes(), 6, mtime=0)
            file.with_name(f"{file.name}.gz").write_bytes(compressed)
            file.unlink()
        yield file.name if file.exists() else f"{file.name}.gz"


def _system(
    tables: Tables, layouts: Sequence[Layout], best: pd.DataFrame, out: Path, writer: Writer
) -> dict[str, object]:
    """Write the pages below a system, and return the context of the system's own page."""
    for layout in layouts:
        _write_page(layout, tables, out / layout.folder, writer)
    swept = ANSWERS["scaling"].asked(tables)
    return {
        "system_title": layouts[0].system_title,
        "generator": generator(tables["runs"]),
        "environment": environment(tables["runs"], tables["cpu"]),
        "shared_hosts": list(hosts.shared(tables["hosts"])),
        "groups": [list(group) for _, group in groupby(layouts, key=lambda layout: layout.queues)],
        "sweep": _sweep(tables, layouts, best, out, writer) if swept else None,
    }


def _sweep(
    tables: Tables, layouts: Sequence[Layout], best: pd.DataFrame, out: Path, writer: Writer
) -> dict[str, object]:
    """Return the context of a system's page on its sweeps of threads, as in 2016."""
    caption, doubted = "Throughput on different topologies", {*tables["doubts"]["point"]}
    return {
        "overview": overview.overview(best, layouts),
        "drawing": writer.draw(drawings.topologies(caption, tables["points"], best, doubted), out),
        "saturation": saturation.sentence(tables["saturation_points"]),
        "saturation_points": saturation.grid(tables["saturation_points"], layouts),
    }


def _write_page(layout: Layout, tables: Tables, folder: Path, writer: Writer) -> None:
    folder.mkdir(parents=True)
    content = page(layout, tables, writer.in_time)
    content.write(folder)
    for section in content.sections:
        if section.drawing is not None and not section.drawing.folder:
            writer.draw(section.drawing, folder)
    of_layout = Selection(tables, layout.of)
    for run in of_layout["runs"]["run"]:
        if run in writer.in_time:
            writer.draw(writer.in_time[run], folder)
    cpu = of_layout["cpu"]
    nodes = list(cpu.loc[cpu["kind"] == "broker", "process"].unique())
    name = rst.slug(f"topology {layout.folder}")
    (folder / f"{name}.svg").write_text(picture(layout, nodes), encoding="utf-8")
    context = {
        "page": content,
        "about_hosts": [*hosts.shared(of_layout["hosts"]), hosts.ABOUT],
        "generator": generator(of_layout["runs"]),
        "picture": name,
        "picture_alt": describe(layout, nodes),
        "with_plan": writer.plan is not None and writer.plan.search is None,
        "runs": list(run_sheets.each(of_layout, writer.in_time, writer.plan)),
    }
    if context["runs"]:
        writer.render("runs.rst", folder / FOLDER / "index.rst", context)
    writer.render("page.rst", folder / "index.rst", context)


def _write_methods(tables: Tables, systems: Systems, out: Path, writer: Writer, plan: str) -> None:
    recorded, missing = methods.recorded(tables, _titles(systems))
    context = {
        "recorded": recorded,
        "missing": missing,
        "shared_hosts": list(hosts.shared(tables["hosts"])),
        "formulas": methods.formulas(),
        "law": methods.law(),
        "limits": methods.limits(),
        "control_runs": control_runs.grid(tables, _titles(systems)),
        "watched": list(control_runs.sentences(tables, _titles(systems))),
        "checks": methods.checks(tables["doubts"]),
        "plan": plan and rst.literal(plan),
    }
    writer.render("methods.rst", out / "index.rst", context)


def _overview(tables: Tables, systems: Systems) -> dict[str, object]:
    """Return the context of the first page besides its answers."""
    titles = _titles(systems)
    return {
        "shared_hosts": list(hosts.shared(tables["hosts"])),
        "quality": quality.data_quality(tables),
        "systems": list(systems),
        "caveats": side_by_side.caveats(all_attempts(tables), titles) if len(titles) > 1 else [],
        "doubts": quality.doubt_kinds(tables["doubts"]),
    }


def _grids(answered: Sequence[Answer]) -> Iterator[rst.Grid]:
    """Yield the tables of the answers; the numbers of footnotes continue through all of them."""
    labels = (f"answer-{number}" for number in count(1))
    for answer in answered:
        if answer.table is not None and (grid := forms.grid(answer.table, labels, {})) is not None:
            yield grid


def _titles(systems: Systems) -> dict[str, str]:
    return {system: layouts[0].system_title for system, layouts in systems.items()}
