"""Publishing: a folder of runs becomes a report with its notebooks executed."""

import re
from pathlib import Path

import pytest

from mqperf.errors import MqperfError
from mqperf.report.build import publish


@pytest.fixture(scope="module")
def report(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the report on the sample runs, made from the root of the project."""
    out = tmp_path_factory.mktemp("report") / "sample"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        assert publish(Path("data/samples/runs"), out) == out / "html" / "index.html"
    return out


def test_notebooks_are_part_of_the_report(report: Path) -> None:
    """Each is there as HTML and to download, and the first page links it."""
    page = (report / "html" / "index.html").read_text()
    for name in ("thread_sweep", "node_cpu", "report"):
        (link,) = re.findall(rf'href="([^"]+/{name}\.html)"', page)
        assert (report / "html" / link).stat().st_size > 0
    assert "hosts.html" not in page


def test_a_report_on_several_hosts_has_their_notebook(root: Path, tmp_path: Path) -> None:
    """Hosts, clocks and networks are one link away, and name no folder of the machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        page = publish(Path("data/samples/hosts"), tmp_path / "report")
    (link,) = re.findall(r'href="([^"]+/hosts\.html)"', page.read_text())
    told = (page.parent / link).read_text(encoding="utf-8")
    assert "Who talked to whom" in told
    assert str(root) not in told


def test_a_report_names_no_folder_of_the_machine(report: Path, root: Path) -> None:
    """Neither the project's place nor a temporary one is in any text of the report."""
    for path in report.rglob("*"):
        if path.suffix in {".html", ".ipynb", ".rst", ".json", ".csv", ".svg"}:
            text = path.read_text(encoding="utf-8")
            assert str(root) not in text, path
            assert str(report.parent) not in text, path


def test_a_folder_without_runs_is_named(tmp_path: Path) -> None:
    """One sentence, and nothing is written."""
    with pytest.raises(MqperfError, match="holds no runs"):
        publish(tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()
