"""The site: bundles that hold what they say, their reports, and the page of all cells."""

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
    """Write the site of these bundles into ``out``; gives a line for each, and the page at last.

    A folder stands for the bundles in it.  ``seconds`` hold what was measured again.  A site that
    is there already is replaced.  Raises ``ReportError`` when ``out`` holds anything else, where no
    bundle has a cell, and after all is written where bundles are not used.
    """
    found: Mapping[str, list[Cell]] = {FIRST: [], SECOND: []}
    refused: list[str] = []
    with replacing(out) as new:
        for folder, places in ((FIRST, bundles), (SECOND, seconds)):
            for file in _files(places):
                try:
                    of_bundle = _add(file, new / folder)
                except (MqperfError, OSError) as error:
                    refused.append(str(error).replace(str(file), file.name))
                    yield f"not used: {error}"
                else:
                    found[folder].extend(of_bundle)
                    yield f"{file}: {amount(len(of_bundle), 'cell')}"
        if not found[FIRST]:
            raise ReportError("no bundle has a rate to compare: see mqperf verify")
        text = page(title, found[FIRST], found[SECOND], refused)
        (new / "index.html").write_text(text, encoding="utf-8")
        (new / MARK).write_text(json.dumps({"title": title}) + "\n", encoding="utf-8")
    first_page = out / "index.html"
    yield str(first_page)
    if refused:
        raise ReportError(f"{first_page}: is written without {amount(len(refused), 'bundle')}")


def _files(places: Iterable[Path]) -> Iterator[Path]:
    for place in places:
        yield from sorted(place.glob(f"*{SUFFIX}")) if place.is_dir() else [place]


def _add(file: Path, folder: Path) -> list[Cell]:
    """Put a bundle into a folder, and its report, and give its cells.

    The report is that of the bundle where it was made again, byte for byte, and else our own: a
    stranger's page has no place on the site.  Raises ``RecordError`` for a bundle that does not
    hold what it says.
    """
    name = file.name.removesuffix(SUFFIX)
    copy = folder / f"{name}{SUFFIX}"
    if not NAME.fullmatch(name) or len(name) > LONGEST_NAME or copy.exists():
        raise RecordError(f"{file}: give it a name of letters, digits, '.', '_' and '-' of its own")
    with unpacked(file) as (unpacked_to, digests):
        made = [*checks(unpacked_to, digests)]
        if fault := next((f"{check.what}: {why}" for check in made for why in check.faults), None):
            raise RecordError(f"{file}: {fault}; mqperf verify {file} tells more")
        runs = unpacked_to / layout.RUNS
        of_bundle = [*cells(read_complete(runs), name)]
        folder.mkdir(exist_ok=True)
        if made[-1].says == MADE_AGAIN:
            shutil.copyfile(unpacked_to / layout.PAGES, folder / f"{name}.html")
        else:
            publish_file(runs, folder / f"{name}.html")
        shutil.copyfile(file, copy)
    return of_bundle
