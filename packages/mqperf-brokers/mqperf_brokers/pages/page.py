"""One page of cells: HTML that needs no other file, no network, and no script to be read.

Names and texts of bundles are strangers' words: each is one line, escaped, and the page runs no
script but its own.
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
"""The folders beside the page in which bundles and their reports are."""

SUFFIX = ".tar.xz"
"""Of bundles, by whose other names cells know them."""

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
    """The page of these cells, of what was measured a second time, and why bundles are not used."""
    later = {cell.key: cell for cell in seconds}
    came = [again(cell, later[cell.key]) if cell.key in later else None for cell in cells]
    names = _names(cells)
    entries = [_entry(of, names, second) for of, second in zip(ranked(cells), came, strict=True)]
    script = (TEMPLATES / "brokers.js").read_text(encoding="utf-8")
    context = {
        "title": one_line(title),
        "answer": _answer(entries),
        "entries": sorted(entries, key=_order),
        "refused": [*map(one_line, refused)],
        "again": share(came) if seconds else "",
        "colours": COLOURS,
        "script": Markup(script),  # noqa: S704 (our own)
        "digest": f"sha256-{b64encode(sha256(script.encode()).digest()).decode()}",
    }
    return templates("mqperf_brokers.pages").get_template("brokers.html.j2").render(context)


def _names(cells: Sequence[Cell]) -> Mapping[tuple[str, ...], str]:
    """By layout its name: of a system that has one topology here nobody need know which."""
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
    """Who is best at how many workloads of a release and a machine, in a sentence."""
    workloads = len({(of["workload"], of["release"], of["machine"]) for of in entries})
    best = Counter(of["layout"] for of in entries if of["rank"] == BEST)
    heads = joined([f"{name} at {count}" for name, count in best.most_common()])
    told = [f"most is sustained by {heads}"] if heads else []
    if left := workloads - best.total():
        told.append(f"at {left} no layout is told apart from all others")
    return f"Of {amount(workloads, 'workload')}, {'; '.join(told)}."


def _entry(of: Ranked, names: Mapping[tuple[str, ...], str], second: Again | None) -> Entry:
    """What the page says of a cell."""
    cell = of.cell
    label = [names[cell.layout], *_words(of.apart)]
    place = {
        "system": one_line(cell.title),
        "workload": one_line(", ".join([TEST_CASES[cell.test_case].short, *_words(of.workload)])),
        "release": one_line(cell.release),
    }
    return {
        **place,
        "address": urlencode(place, quote_via=quote),
        "layout": one_line(", ".join(label)),
        "machine": one_line(cell.machine),
        "number": [*TEST_CASES].index(cell.test_case),
        "value": float(cell.sustained.rate) if cell.counts else "",
        "rate": _rate(cell),
        "rank": of.rank,
        "doubts": one_line("; ".join(cell.doubts or ([] if cell.sustained.known else [UNBOUND]))),
        "day": cell.day,
        "versions": one_line(cell.versions),
        "again": _came(second),
        **_links(FIRST, cell.bundle),
    }


def _links(folder: str, bundle: str) -> Entry:
    """Where a bundle and its report are, and the command that measures it again."""
    file = f"{folder}/{bundle}"
    command = one_line(f"mqperf reproduce {file}{SUFFIX}")
    return {"bundle": quote(file + SUFFIX), "report": quote(f"{file}.html"), "command": command}


def _rate(cell: Cell) -> str:
    """``1,190 (1,150 to 1,230) msg/sec``, or the end that is known."""
    of, unit = cell.sustained, f"{TEST_CASES[cell.test_case].unit}/sec"
    if not of.rate >= 0:
        return "none"
    if not of.known:
        return f"{grouped(of.rate)} {unit}"
    if of.high == inf:
        return f"at least {grouped(of.low)} {unit}"
    if of.low == 0:
        return f"less than {grouped(of.high)} {unit}"
    return f"{grouped(of.rate)} ({grouped(of.low)} to {grouped(of.high)}) {unit}"


def _came(second: Again | None) -> Entry:
    if second is None:
        return {"words": "", "within": ""}
    verdict = {True: "within", False: "outside", None: second.why}[second.within]
    words = one_line(f"{verdict}: {_rate(second.cell)}, {second.cell.day}")
    return {"words": words, "within": verdict, **_links(SECOND, second.cell.bundle)}


def _words(values: Iterable[Value]) -> Iterator[str]:
    """Parameters and what is recorded beside them, in words."""
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
    """By workload, then by machine; what counts first, the highest at the top."""
    value = entry["value"]
    place = (entry["number"], entry["workload"], entry["release"], entry["machine"])
    return (*place, -value if isinstance(value, float) else inf, entry["layout"])
