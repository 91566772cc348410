"""One page of cells: HTML that needs no other file, no network, and no script to be read.

Names and texts of bundles are untrusted: each is reduced to one line and escaped, and the page
runs no script but its own.
"""

from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from math import inf
from pathlib import Path
from urllib.parse import quote, urlencode

from markupsafe import Markup

from mqperf.base.one_line import amount, one_line
from mqperf.pages.figures import labels, palette
from mqperf.pages.questions.words import grouped
from mqperf.pages.report.pictures.svg import templates
from mqperf.pages.report.words import joined
from mqperf.plan.test_cases import TEST_CASES
from mqperf.study.tables.axis_words import worded
from mqperf_brokers.study.cells import BESIDE, Cell
from mqperf_brokers.study.ranking import BEST, Again, Ranked, Value, again, ranked, share
from mqperf_brokers.study.rates import UNBOUND

TEMPLATES = Path(__file__).parent / "templates"

FIRST, SECOND = "bundles", "again"
"""The folders beside the page with bundles and their reports."""

SUFFIX = ".tar.xz"
"""Suffix of bundle files; a cell has the name without it."""

COLOURS = {
    "paper": palette.PAPER,
    "ink": palette.INK,
    "faint": palette.FAINT,
    "grid": palette.GRID,
    "box": palette.BOX,
    "link": palette.THROUGHPUT,
    "sound": palette.CPU,
    "doubted": palette.LATENCY,
}

CONFIRMED = {True: "confirmed", False: "not confirmed", None: "confirms not known"}

Entry = Mapping[str, object]


def page(
    title: str, cells: Sequence[Cell], seconds: Sequence[Cell] = (), refused: Sequence[str] = ()
) -> str:
    """Return the page of cells, their second measurements, and reasons why bundles are refused."""
    later = {cell.key: cell for cell in seconds}
    repeated = [again(cell, later[cell.key]) if cell.key in later else None for cell in cells]
    names, pairs = _names(cells), zip(ranked(cells), repeated, strict=True)
    entries = [_entry(ranked_cell, names, second) for ranked_cell, second in pairs]
    script = (TEMPLATES / "brokers.js").read_text(encoding="utf-8")
    context = {
        "title": one_line(title),
        "answer": _answer(entries),
        "entries": sorted(entries, key=_order),
        "refused": [*map(one_line, refused)],
        "again": share(repeated) if seconds else "",
        "colours": COLOURS,
        "script": Markup(script),  # noqa: S704 (our own)
        "digest": f"sha256-{b64encode(sha256(script.encode()).digest()).decode()}",
    }
    return templates("mqperf_brokers.pages").get_template("brokers.html.j2").render(context)


def _names(cells: Sequence[Cell]) -> Mapping[tuple[str, ...], str]:
    """Return layout -> name; the topology is omitted if the system has only one here."""
    topologies: dict[str, set[str]] = {}
    for cell in cells:
        topologies.setdefault(cell.system, set()).add(cell.topology)
    return {
        cell.layout: f"{cell.title}, {labels.layout(cell.topology, cell.queues)}"
        if len(topologies[cell.system]) > 1
        else cell.title + labels.queues(cell.queues).label
        for cell in cells
    }


def _answer(entries: Sequence[Entry]) -> str:
    """Return a sentence: which layout is best at how many workloads of a release and a machine."""
    workloads = len({(e["workload"], e["release"], e["machine"]) for e in entries})
    best = Counter(e["layout"] for e in entries if e["rank"] == BEST)
    winners = joined([f"{name} in {count}" for name, count in best.most_common()])
    parts = [f"the highest rate is sustained by {winners}"] if winners else []
    if undecided := workloads - best.total():
        parts.append(f"no layout is clearly ahead in {undecided}")
    return f"Of {amount(workloads, 'workload')}, {'; '.join(parts)}."


def _entry(ranking: Ranked, names: Mapping[tuple[str, ...], str], second: Again | None) -> Entry:
    """Return the template's values for a cell."""
    cell, case = ranking.cell, TEST_CASES[ranking.cell.test_case].short
    label = [names[cell.layout], *_words(ranking.apart)]
    query = {
        "system": one_line(cell.title),
        "workload": one_line(", ".join([case, *_words(ranking.workload)])),
        "release": one_line(cell.release),
    }
    return {
        **query,
        "address": urlencode(query, quote_via=quote),
        "layout": one_line(", ".join(label)),
        "machine": one_line(cell.machine),
        "number": [*TEST_CASES].index(cell.test_case),
        "value": float(cell.sustained.rate) if cell.counts else "",
        "rate": _rate(cell),
        "rank": ranking.rank,
        "doubts": one_line("; ".join(cell.doubts or ([] if cell.sustained.known else [UNBOUND]))),
        "day": cell.day,
        "versions": one_line(cell.versions),
        "again": _second_values(second),
        **_links(FIRST, cell.bundle),
    }


def _links(folder: str, bundle: str) -> Entry:
    """Return the URLs of a bundle and its report, and the command that measures it again."""
    file = f"{folder}/{bundle}"
    command = one_line(f"mqperf reproduce {file}{SUFFIX}")
    return {"bundle": quote(file + SUFFIX), "report": quote(f"{file}.html"), "command": command}


def _rate(cell: Cell) -> str:
    """Format a rate: ``1,190 (1,150 to 1,230) msg/sec``, or the end that is known."""
    rate, unit = cell.sustained, f"{TEST_CASES[cell.test_case].unit}/sec"
    if not rate.rate >= 0:
        return "none"
    if not rate.known:
        return f"{grouped(rate.rate)} {unit}"
    if rate.high == inf:
        return f"at least {grouped(rate.low)} {unit}"
    if rate.low == 0:
        return f"less than {grouped(rate.high)} {unit}"
    return f"{grouped(rate.rate)} ({grouped(rate.low)} to {grouped(rate.high)}) {unit}"


def _second_values(second: Again | None) -> Entry:
    if second is None:
        return {"words": "", "within": ""}
    verdict = {True: "within", False: "outside", None: second.why}[second.within]
    words = one_line(f"{verdict}: {_rate(second.cell)}, {second.cell.day}")
    return {"words": words, "within": verdict, **_links(SECOND, second.cell.bundle)}


def _words(values: Iterable[Value]) -> Iterator[str]:
    """Yield parameters, and facts recorded beside them, as texts."""
    for name, value in values:
        if name == "confirmed":
            yield CONFIRMED[value]
        elif name == "how":
            yield str(value)
        elif name == BESIDE:
            yield f"beside {value}" if value else "alone"
        else:
            yield worded(name, value)


def _order(entry: Entry) -> tuple[object, ...]:
    """Return the sort key: workload, machine, then cells that count, the highest rate first."""
    value = entry["value"]
    key = (entry["number"], entry["workload"], entry["release"], entry["machine"])
    return (*key, -value if isinstance(value, float) else inf, entry["layout"])
