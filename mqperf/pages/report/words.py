"""Texts of reports: titles and folders of layouts, and formats of numbers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import floor, isnan, log10
from numbers import Integral, Real

import pandas as pd

from mqperf.base.errors import ReportError
from mqperf.base.one_line import amount, one_line
from mqperf.pages.figures import labels
from mqperf.pages.report.rst import MISSING, Text, escape
from mqperf.plan.columns import COLUMNS
from mqperf.plan.load import GENERATORS, Generator
from mqperf.plan.test_cases import TEST_CASES
from mqperf.study.importer import IMPORTERS, Importer
from mqperf.study.tables import Tables, where
from mqperf.study.tables.axes import LAYOUT
from mqperf.study.tables.axis_words import shown_rate, shown_value
from mqperf.study.tables.clocks import LARGE_SHARE

TAKEN = (
    *("conf.py", "docutils.conf", "html", "index.rst", "methods", "notebooks", "plan.yaml"),
    *("report.json", "tables", "top_throughput.svg"),
)
"""Names in a report that no folder of a system may have."""

AS_PLANNED = {"kept_rate_msg_s", "missed_rate_msg_s", "held_rate_msg_s", "broken_rate_msg_s"}
"""Figures that are a rate of a plan, or a mean of such rates, and are printed like them."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A topology with a kind of queue, of one system: the subject of one page."""

    system: str
    system_title: str
    topology: str
    queues: str

    @property
    def folder(self) -> str:
        """Name of the page's folder: ``cmsm``, ``cmsm-ha``."""
        return self.topology + labels.queues(self.queues).suffix

    @property
    def title(self) -> str:
        """Title of the page."""
        topology, queues = labels.topology(self.topology), labels.queues(self.queues)
        return f"{self.system_title} performance ({topology.title}){queues.title}"

    @property
    def label(self) -> str:
        """Short name of the layout for overview tables."""
        return labels.layout(self.topology, self.queues)

    @property
    def sentence(self) -> str:
        """Sentences on the connections of client and server to nodes, and on the queues."""
        topology, queues = labels.topology(self.topology), labels.queues(self.queues)
        return f"{topology.sentence} {queues.sentence}"

    def of(self, frame: pd.DataFrame, test_case: str | None = None) -> pd.DataFrame:
        """Return the rows of the frame of this layout, and of the test case."""
        case = {} if test_case is None else {"test_case": test_case}
        keys = {"system": self.system, "topology": self.topology, "queues": self.queues}
        return where(frame, **keys, **case)


def layouts(runs: pd.DataFrame) -> list[Layout]:
    """Return every layout that was tried: by system, then plain queues before replicated ones.

    Runs of unknown test cases do not count.  Raises ``ReportError`` when two layouts, or something
    else of the report, would have the same folder.
    """
    keys = [*LAYOUT]
    known = runs[~_unknown(runs)].dropna(subset=keys)
    titles = known.groupby("system")["system_title"].first()
    tried = [
        Layout(system, system if pd.isna(titles[system]) else titles[system], topology, queues)
        for system, topology, queues in known[keys].drop_duplicates().itertuples(index=False)
    ]
    _check_folders(tried)
    return sorted(tried, key=lambda it: (it.system, *labels.order(it.topology, it.queues)))


def generator(runs: pd.DataFrame) -> Mapping[str, Text]:
    """Return the load generators, or import tools, of these runs as RST: ``name`` and ``target``.

    The default is mqperf's first generator.  A generator whose package is not installed has its
    plain name, and no link target.
    """
    used = set(runs["generator"].dropna())
    registered: tuple[Generator | Importer, ...] = (*GENERATORS.values(), *IMPORTERS.values())
    matching = [tool for tool in registered if tool.name in used]
    if used and not matching:
        return {"name": escape(min(used)), "target": Text()}
    tools = matching or registered[:1]
    names = joined([f"`{tool.title}`_" for tool in tools])
    targets = (f".. _{tool.title}: {tool.link}" for tool in tools)
    return {"name": Text(names), "target": Text("\n".join(targets))}


def repeats_of(points: pd.DataFrame) -> str:
    """Format the numbers of whole runs of points: ``3``, ``2 to 7``; empty if none has any."""
    whole = points["repeats"][points["repeats"] > 0]
    return " to ".join(dict.fromkeys([f"{whole.min()}", f"{whole.max()}"])) if len(whole) else ""


def known_cases(tables: Tables) -> Tables:
    """Drop rows of unknown test cases from all tables."""
    if not _unknown(tables["runs"]).any():
        return tables
    return {
        name: frame[~_unknown(frame)] if "test_case" in frame.columns else frame
        for name, frame in tables.items()
    }


def left_out(runs: pd.DataFrame) -> Iterator[str]:
    """Yield a sentence on each unknown test case, which no page shows."""
    for case, attempts in runs.loc[_unknown(runs), "test_case"].value_counts().items():
        yield (
            f"{amount(attempts, 'attempt')} at the test case {one_line(str(case), 80)!r} not"
            f" shown: known are {', '.join(TEST_CASES)}. The tables have them."
        )


def _unknown(frame: pd.DataFrame) -> pd.Series:
    return frame["test_case"].notna() & ~frame["test_case"].isin(list(TEST_CASES))


def _check_folders(tried: Sequence[Layout]) -> None:
    """Raise ``ReportError`` if the folder of a layout is taken, or shared by two layouts."""
    folders: dict[tuple[str, str], Layout] = {}
    for layout in tried:
        if layout.system in TAKEN:
            raise ReportError(
                f"a report has something else called {layout.system!r}: rename that system"
            )
        other = folders.setdefault((layout.system, layout.folder), layout)
        if other is not layout:
            raise ReportError(
                f"{layout.system}: topology {other.topology} with {other.queues} queues, and"
                f" {layout.topology} with {layout.queues}, would share the folder"
                f" {layout.folder!r}: rename one of them"
            )


HALF = 0.05
"""Half a unit in the last decimal of figures: smaller values would print as zero."""


def cell(column: str, value: object) -> Text:
    """Format a value as the published reports do: counts as integers, figures with one decimal.

    Small values other than zero have as many decimals as they need not to print as zero.
    """
    if value is None or value is pd.NA or (isinstance(value, float) and isnan(value)):
        return Text(MISSING)
    if isinstance(value, Integral):
        return Text(int(value))
    if isinstance(value, Real) and column in AS_PLANNED:
        return Text(shown_rate(float(value)))
    if isinstance(value, Real) and COLUMNS[column].parameter:
        return Text(shown_value(column, float(value)))
    if isinstance(value, Real):
        shown = float(value) * COLUMNS[column].scale
        digits = 1 if abs(shown) >= HALF or not shown else -floor(log10(abs(shown)))
        return Text(f"{shown:.{digits}f}")
    return escape(value)


def unsure(column: str, value: float, uncertainty_s: float, median_s: float) -> Text:
    """Format a latency as ``cell`` does, with ± its error bound from the clocks.

    If that is more than a tenth of the median, only the digits that it leaves certain are printed.
    """
    if isnan(value) or not uncertainty_s > 0:
        return cell(column, value)
    shown, error = value * COLUMNS[column].scale, uncertainty_s * COLUMNS[column].scale
    typical_s = value if isnan(median_s) else median_s
    digits = min(1, -floor(log10(error))) if uncertainty_s > LARGE_SHARE * abs(typical_s) else 1
    return Text(f"{round(shown, digits):.{max(digits, 0)}f} ± {float(f'{error:.1g}'):g}")


def three_figures(value: float) -> str:
    """Format a value with three significant figures, as in all overviews."""
    return f"{float(f'{value:.3g}'):.12g}"


def joined(parts: Sequence[str]) -> str:
    """Join texts in a list: ``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def likewise(sentences: Sequence[str]) -> str:
    """Return the first sentence of one check about one row, and the number of further ones."""
    if not sentences:
        return ""
    more = len(sentences) - 1
    return sentences[0] + (f"; likewise in {amount(more, 'other run')}" if more else "")
