"""HTML from the RST of a report, by Sphinx."""

import shutil
import sys
from pathlib import Path

from mqperf import guarded
from mqperf.errors import ReportError


def make_html(source: Path, out: Path) -> None:
    """Build the HTML, which needs no server and no network; a warning is an error.

    Sphinx runs in a process of its own: it changes docutils and the logging of the one it runs in.
    Raises ``ReportError`` with Sphinx's own words.
    """
    with guarded.scratch("doctrees") as doctrees:
        options = ["-q", "-W", "--keep-going", "--no-color", "-b", "html", "-d", str(doctrees)]
        command = [sys.executable, "-P", "-m", "sphinx", *options, str(source), str(out)]
        built = guarded.run(command)
    if built.returncode:
        said = [line for line in built.stderr.splitlines() if "WARNING" in line or "rror" in line]
        said = said or built.stderr.splitlines()[-1:]
        reason = " / ".join(said[:3]).replace(f"{source}/", "")
        raise ReportError(f"Sphinx could not build the HTML of the report: {reason}")
    shutil.rmtree(out / ".doctrees", ignore_errors=True)
