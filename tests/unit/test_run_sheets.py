"""Reports contain the plan, and rows link to run sheets with the command that repeats the run."""

import re
from pathlib import Path

import pytest
import samples
from bs4 import BeautifulSoup

from mqperf.pages.report.build import publish
from mqperf.pages.report.rst import literal
from mqperf.pages.report.run_sheets import each
from mqperf.pages.report.single_file import fold
from mqperf.plan.file import load_plan

pytestmark = pytest.mark.starts_programs

HOSTS = Path(__file__).parent.parent.parent / "data/samples/hosts"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("reports") / "hosts"
    publish(HOSTS, out, notebooks=False)
    return out


def test_the_plan_is_part_of_the_report(report: Path) -> None:
    """The first page links an exact copy, and the methods show the text."""
    assert (report / "plan.yaml").read_text() == (HOSTS / "plan.yaml").read_text()
    assert ":download:`YAML <plan.yaml>`" in (report / "index.rst").read_text()
    methods = BeautifulSoup((report / "html/methods/index.html").read_text(), "html.parser")
    shown = next(
        block.get_text() for block in methods.find_all("pre") if "laboratory" in block.get_text()
    )
    assert shown.strip() == (HOSTS / "plan.yaml").read_text().strip()


def test_every_row_leads_to_a_run_that_tells_its_command(report: Path) -> None:
    """Each row of runs or points links a sheet, whose command names the case of the plan."""
    folder = report / "html/rabbitmq/cs1ss2"
    page, sheets = (
        BeautifulSoup((folder / file).read_text(), "html.parser")
        for file in ("index.html", "runs/index.html")
    )
    rows = [row for table in page.select("table.numbers") for row in table.select("tbody tr")]
    assert len(rows) >= 3 * 3 * 2
    reached = set()
    for row in rows:
        link = row.select_one("td a.reference")
        assert link is not None
        file, _, anchor = str(link["href"]).partition("#")
        place = sheets.find(id=anchor)
        assert file == "runs/index.html"
        assert place is not None
        reached.add(anchor)
    assert len(reached) == 6
    text = " ".join(sheets.get_text(" ").split())
    digests = re.findall(r"mqperf run plan.yaml --only (\w+) --runs again", text)
    cases = [case.id for case in load_plan(report / "plan.yaml").cases()]
    assert [[case for case in cases if case.endswith(digest)] for digest in digests] == [
        [run] for run in samples.read(HOSTS)["runs"]["run"]
    ]


def test_rows_lead_to_runs_in_one_file(report: Path, tmp_path: Path) -> None:
    """All links into a single-file report have a target in it."""
    file = BeautifulSoup(fold(report / "html", tmp_path / "one.html").read_text(), "html.parser")
    links = {str(link["href"])[1:] for link in file.select("table.numbers td a.reference")}
    assert sum(link.startswith("rabbitmq/cs1ss2/runs/run-") for link in links) == 6
    assert all(file.find(id=link) for link in links)


def test_a_plan_cannot_leave_its_block() -> None:
    """Neither docutils' line breaks nor control characters start a new line."""
    text = literal("title: x  # \x85.. raw:: html\u2028   <b>\x0bno\u202e\n\n  key: 1")
    lines = text.split("\n")
    assert lines[:2] == ["::", ""]
    assert all(line.startswith("    ") for line in lines[2:] if line)
    assert len(lines) == len(text.splitlines())
    assert "\u202e" not in text


def test_what_pages_link_is_stored_once(report: Path) -> None:
    """Pages link the same table and drawing files that lie beside them."""
    copies = [*report.glob("html/_downloads/*/*.*"), *report.glob("html/_images/*.svg")]
    assert len(copies) > 30
    assert [copy for copy in copies if copy.name != "plan.yaml" and copy.stat().st_nlink < 2] == []


def test_only_a_case_of_the_plan_has_a_command() -> None:
    """If the plan names no hosts, the command asks for their inventory."""
    frames = samples.complete(HOSTS)
    plan = load_plan(HOSTS / "plan.yaml")
    unnamed = plan.model_copy(update={"hosts": None})
    other = plan.model_copy(update={"test_cases": ("notify",)})
    again = {
        name: [sheet.text.partition("again: ")[2] for sheet in each(frames, {}, given)]
        for name, given in (("own", plan), ("unnamed", unnamed), ("other", other), ("none", None))
    }
    assert sum(text.endswith(" --runs again``") for text in again["own"]) == 6
    assert sum(text.endswith(" --runs again --hosts INVENTORY``") for text in again["unnamed"]) == 6
    assert [bool(text) for text in again["other"]] == [False] * 4 + [True] * 2
    assert again["none"] == [""] * 6
