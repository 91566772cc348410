"""Every notebook, top to bottom through papermill, on recorded runs: no broker takes part."""

from collections.abc import Iterator
from pathlib import Path

import nbformat
import papermill
import pytest

SAMPLES = "data/samples/runs"
HOSTS = "data/samples/hosts"
PARAMETERS: dict[str, dict[str, object]] = {
    "thread_sweep": {"plan": f"{SAMPLES}/plan.yaml", "runs": SAMPLES},
    "node_cpu": {"runs": SAMPLES},
    "report": {"runs": SAMPLES},
    "audit": {"runs": SAMPLES},
    "hosts": {"runs": HOSTS},
    "compare": {"before": SAMPLES, "after": SAMPLES},
}


def errors_and_warnings(path: Path) -> Iterator[str]:
    """What cells wrote to stderr."""
    for cell in nbformat.read(path, as_version=4).cells:
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                yield output["text"]


@pytest.mark.parametrize("name", sorted(PARAMETERS))
def test_a_notebook_runs_on_the_samples(root: Path, tmp_path: Path, name: str) -> None:
    """It draws its figures, says nothing on stderr, and changes nothing in the samples."""
    runs = root / "data/samples"
    before = sorted((path, path.stat().st_mtime_ns) for path in runs.rglob("*"))
    copy = tmp_path / f"{name}.ipynb"
    papermill.execute_notebook(
        root / "notebooks" / copy.name,
        copy,
        parameters=PARAMETERS[name],
        progress_bar=False,
        cwd=str(root / "notebooks"),
    )
    assert list(errors_and_warnings(copy)) == []
    assert '"image/svg+xml"' in copy.read_text()
    assert sorted((path, path.stat().st_mtime_ns) for path in runs.rglob("*")) == before


def test_a_batch_gives_a_copy_for_each_value(root: Path, tmp_path: Path) -> None:
    """The same notebook over several folders, as a papermill batch does it."""
    for number, runs in enumerate([SAMPLES, "data/published/2016"]):
        copy = tmp_path / f"node_cpu-{number}.ipynb"
        notebook = root / "notebooks" / "node_cpu.ipynb"
        papermill.execute_notebook(
            notebook, copy, parameters={"runs": runs}, progress_bar=False, cwd=str(root)
        )
        assert nbformat.read(copy, as_version=4).metadata.papermill.parameters.runs == runs


@pytest.mark.parametrize("runs", [SAMPLES, "data/published/2016"])
def test_hosts_of_one_machine_are_told(root: Path, tmp_path: Path, runs: str) -> None:
    """The notebook of hosts says what there is of one host, and of tables without any."""
    copy = tmp_path / "hosts.ipynb"
    notebook = root / "notebooks" / copy.name
    papermill.execute_notebook(
        notebook, copy, parameters={"runs": runs}, progress_bar=False, cwd=str(root)
    )
    assert list(errors_and_warnings(copy)) == []
    assert "nothing to compare" in copy.read_text()


def test_every_notebook_is_tested(root: Path) -> None:
    """A new notebook needs its line above."""
    assert {path.stem for path in (root / "notebooks").glob("*.ipynb")} == set(PARAMETERS)
