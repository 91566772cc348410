"""Conversion of the RST of a report to HTML by Sphinx."""

import shutil
import sys
from contextlib import suppress
from pathlib import Path

from mqperf.base import processes
from mqperf.base.errors import ReportError
from mqperf.base.packages import need

SHARED = {".csv", ".gz", ".parquet", ".svg", ".json", ".html", ".ipynb"}
"""Suffixes of files that pages show or link."""


def make_html(source: Path, out: Path) -> None:
    """Build the HTML, which needs no server and no network; a warning is an error.

    Sphinx runs in a separate process, as it changes docutils and logging globally.  Raises
    ``ReportError`` with the message of Sphinx.
    """
    need("report")
    with processes.scratch("doctrees") as doctrees:
        options = ["-q", "-W", "--keep-going", "--no-color", "-b", "html", "-d", str(doctrees)]
        command = [sys.executable, "-P", "-m", "sphinx", *options, str(source), str(out)]
        built = processes.run(command)
    if built.returncode:
        lines = [line for line in built.stderr.splitlines() if "WARNING" in line or "rror" in line]
        lines = lines or built.stderr.splitlines()[-1:]
        reason = " / ".join(lines[:3]).replace(f"{source}/", "")
        raise ReportError(f"Sphinx could not build the HTML of the report: {reason}")
    shutil.rmtree(out / ".doctrees", ignore_errors=True)
    _link_copies(source, out)


def _link_copies(source: Path, out: Path) -> None:
    """Replace Sphinx's copies of source files by hard links, where the file system has them."""
    originals = {
        file.read_bytes(): file
        for file in source.rglob("*")
        if file.suffix in SHARED and out not in file.parents
    }
    for copy in [*(out / "_downloads").rglob("*.*"), *(out / "_images").glob("*")]:
        original = originals.get(copy.read_bytes())
        link = copy.with_name(f"{copy.name}.link")
        with suppress(OSError):
            if original is not None:
                link.hardlink_to(original)
                link.replace(copy)
