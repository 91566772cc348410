"""The RST of a report: the overview page, a page per system, a page per layout.

Every folder refers only to itself and to folders below it, so that any part of the tree can be put
into another tree as it is.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from mqperf.columns import COLUMNS, TABLES
from mqperf.report import drawings, rst, verdicts
from mqperf.report.environment import environment
from mqperf.report.notebooks import publish
from mqperf.report.page import page
from mqperf.report.rows import COUNTS, SWEEP
from mqperf.report.topology_picture import describe, picture
from mqperf.report.words import Layout, joined
from mqperf.tables import Tables, write

MARK = "report.json"
"""The file by which a folder is known to be a report, and may be replaced."""

STATIC = Path(__file__).parent / "static"


def write_source(
    tables: Tables, found: Sequence[Layout], out: Path, title: str, notebooks: Sequence[Path]
) -> None:
    """Write everything but the HTML into the empty folder ``out``."""
    templates = _templates()
    write(tables, out / "tables", "csv")
    write(tables, out / "tables", "parquet")
    shutil.copytree(STATIC, out / "_static")
    published = [publish(notebook, out / "notebooks") for notebook in notebooks]
    best = verdicts.tops(tables, found)
    systems = {name: list(own) for name, own in groupby(found, key=lambda layout: layout.system)}
    for system, own in systems.items():
        context = _system(tables, own, best, out / system, templates)
        context["label"] = f"mqperf_{rst.slug(title)}_{system}"
        _render(templates, "system.rst", out / system / "index.rst", context)
    drawing = drawings.tops("Top throughput", _across_systems(best, found))
    drawing.write(out)
    context = {
        "report_title": title,
        "when": _when(tables["runs"]),
        "verdicts": [
            sentence
            for system, own in systems.items()
            for sentence in verdicts.verdicts(best[best["system"] == system], own[0].system_title)
        ],
        "care": verdicts.care(tables),
        "drawing": drawing,
        "systems": list(systems),
        "notebooks": published,
        "doubts": verdicts.doubt_kinds(tables["doubts"]),
        "tables": {name: TABLES[name].row for name in tables},
        "meanings": _meanings(),
    }
    _render(templates, "index.rst", out / "index.rst", context)
    _render(templates, "conf.py", out / "conf.py", context)
    facts = {"format": "mqperf-report", "version": 1, "title": title, "systems": list(systems)}
    (out / MARK).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def _system(
    tables: Tables, found: Sequence[Layout], best: pd.DataFrame, out: Path, templates: Environment
) -> dict[str, object]:
    """Write the pages below a system; give what the system's own page says."""
    system = found[0].system
    own = {key: frame[frame["system"] == system] for key, frame in tables.items()}
    best = best[best["system"] == system]
    for layout in found:
        _write_page(layout, own, out / layout.folder, templates)
    caption = "Throughput on different topologies"
    drawing = drawings.topologies(caption, own["points"], best, set(own["doubts"]["point"]))
    drawing.write(out)
    return {
        "system_title": found[0].system_title,
        "environment": environment(own["runs"]),
        "groups": [list(group) for _, group in groupby(found, key=lambda layout: layout.queues)],
        "overview": verdicts.overview(best, found),
        "verdicts": verdicts.verdicts(best, found[0].system_title),
        "drawing": drawing,
    }


def _write_page(layout: Layout, tables: Tables, folder: Path, templates: Environment) -> None:
    folder.mkdir(parents=True)
    content = page(layout, tables)
    content.write(folder)
    cpu = layout.of(tables["cpu"])
    nodes = list(cpu.loc[cpu["kind"] == "broker", "process"].unique())
    name = rst.slug(f"topology {layout.folder}")
    (folder / f"{name}.svg").write_text(picture(layout, nodes, templates), encoding="utf-8")
    context = {"page": content, "picture": name, "picture_alt": describe(layout, nodes)}
    _render(templates, "page.rst", folder / "index.rst", context)


def _across_systems(best: pd.DataFrame, found: Sequence[Layout]) -> pd.DataFrame:
    """The tops, with the system's name in the label where there is more than one."""
    titles = {layout.system: layout.system_title for layout in found}
    if len(titles) == 1:
        return best
    return best.assign(label=best["system"].map(titles) + ": " + best["label"])


def _when(runs: pd.DataFrame) -> str:
    """When and with what it was measured, as far as that is known."""
    started = runs["started"].dropna().dt.strftime("%Y-%m-%d")
    if started.empty:
        return ""
    days = dict.fromkeys([started.min(), started.max()])
    versions = [f"mqperf {version}" for version in runs["mqperf_version"].dropna().unique()]
    return f"Measured {' to '.join(days)}" + (f" with {joined(versions)}." if versions else ".")


def _meanings() -> dict[str, str]:
    """Heading of each column of the pages -> what it means."""
    names = [name for name in dict.fromkeys(COUNTS + SWEEP) if not name.endswith(("_low", "_high"))]
    return {COLUMNS[name].heading(): COLUMNS[name].meaning for name in names}


def _templates() -> Environment:
    templates = Environment(
        loader=PackageLoader("mqperf.report"),
        autoescape=False,  # noqa: S701 (RST, not HTML)
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.globals.update(
        title=rst.title, image=rst.image, table=rst.table, rounding=verdicts.ROUNDING
    )
    templates.filters.update(wrap=rst.wrap, bullets=rst.bullets, rst=rst.escape)
    return templates


def _render(
    templates: Environment, template: str, file: Path, context: Mapping[str, object]
) -> None:
    text = templates.get_template(f"{template}.j2").render(context)
    file.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
