"""The site: verified bundles, their reports, and the page of all cells."""

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from mqperf.base.errors import MqperfError, RecordError, ReportError
from mqperf.base.one_line import LONGEST_NAME, NAME, amount
from mqperf.pages.report.build import publish_file, replacing
from mqperf.pages.report.writer import MARK
from mqperf.study.stats.seconds import read_complete
from mqperf_brokers.pages.page import FIRST, SECOND, SUFFIX, page
from mqperf_brokers.study.cells import Cell, cells
from mqperf_bundle.front.verifying import MADE_AGAIN, checks, unpacked
from mqperf_bundle.record import layout


def write_site(
    out: Path, bundles: Sequence[Path], seconds: Sequence[Path], title: str
) -> Iterator[str]:
    """Write the site of these bundles into ``out``; yield a line for each, and the page at last.

    A folder stands for the bundles in it; ``seconds`` are bundles of second measurements.  An
    existing site is replaced.  Raises ``ReportError`` when ``out`` holds anything else, if no
    bundle has a cell, and, after all is written, if bundles were refused.
    """
    found: Mapping[str, list[Cell]] = {FIRST: [], SECOND: []}
    refused: list[str] = []
    with replacing(out) as new:
        for folder, paths in ((FIRST, bundles), (SECOND, seconds)):
            for file in _files(paths):
                try:
                    bundle_cells = _add(file, new / folder)
                except (MqperfError, OSError) as error:
                    refused.append(str(error).replace(str(file), file.name))
                    yield f"not used: {error}"
                else:
                    found[folder].extend(bundle_cells)
                    yield f"{file}: {amount(len(bundle_cells), 'cell')}"
        if not found[FIRST]:
            raise ReportError("no bundle has a rate to compare: see mqperf verify")
        text = page(title, found[FIRST], found[SECOND], refused)
        (new / "index.html").write_text(text, encoding="utf-8")
        (new / MARK).write_text(json.dumps({"title": title}) + "\n", encoding="utf-8")
    first_page = out / "index.html"
    yield str(first_page)
    if refused:
        raise ReportError(f"{first_page}: is written without {amount(len(refused), 'bundle')}")


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        yield from sorted(path.glob(f"*{SUFFIX}")) if path.is_dir() else [path]


def _add(file: Path, folder: Path) -> list[Cell]:
    """Verify a bundle, copy it and its report into a folder, and return its cells.

    The report is that of the bundle if it could be made again, byte for byte, else a new one: the
    site contains no page of unknown origin.  Raises ``RecordError`` for a bundle with a fault.
    """
    name = file.name.removesuffix(SUFFIX)
    copy = folder / f"{name}{SUFFIX}"
    if not NAME.fullmatch(name) or len(name) > LONGEST_NAME or copy.exists():
        raise RecordError(f"{file}: give it a name of letters, digits, '.', '_' and '-' of its own")
    with unpacked(file) as (unpacked_to, digests):
        done = [*checks(unpacked_to, digests)]
        if fault := next((f"{check.what}: {why}" for check in done for why in check.faults), None):
            raise RecordError(f"{file}: {fault}; see mqperf verify {file}")
        runs = unpacked_to / layout.RUNS
        bundle_cells = [*cells(read_complete(runs), name)]
        folder.mkdir(exist_ok=True)
        if done[-1].says == MADE_AGAIN:
            shutil.copyfile(unpacked_to / layout.PAGES, folder / f"{name}.html")
        else:
            publish_file(runs, folder / f"{name}.html")
        shutil.copyfile(file, copy)
    return bundle_cells
