"""Importers: how what another tool measured is known, and read."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mqperf.base.errors import TableError
from mqperf.base.registry import Registry
from mqperf.study.published.measurement import Measurement

PACKAGE = "install mqperf-imported, which reads runs of Maestro and quiver"
"""Where importers are to be had, for who has none."""


@dataclass(frozen=True, slots=True)
class Importer:
    """A tool; ``name`` is what runs call their generator, ``title`` and ``link`` what pages do.

    ``known_by`` is the file by which a run of it is known, for messages.  ``holds`` tells whether a
    folder, or a file, is such a run; ``read`` reads it, called as it is told.
    """

    name: str
    title: str
    link: str
    known_by: str
    holds: Callable[[Path], bool]
    read: Callable[[Path, str], Measurement]


IMPORTERS: Registry[Importer] = Registry("importers", ())
"""All come with packages."""


def importer_of(path: Path) -> Importer | None:
    """The importer of the run that a folder or file holds; None for a file that holds none.

    Raises ``TableError`` for a folder that no importer knows.
    """
    found = next((one for one in IMPORTERS.values() if one.holds(path)), None)
    if found is None and path.is_dir():
        known = [f"{one.title} ({one.known_by})" for one in IMPORTERS.values()]
        if not known:
            raise TableError(f"{path}: is a folder, and no importer is installed: {PACKAGE}")
        raise TableError(
            f"{path}: holds no run of {' nor of '.join(known)}; give the folder of one run"
        )
    return found
