"""Every notebook runs through papermill on recorded runs, alone and within reports.

No broker is needed.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
import samples

from mqperf.base.errors import MqperfError, ReportError
from mqperf.pages.report import executed as script
from mqperf.pages.report import notebooks
from mqperf.pages.report.build import publish
from mqperf.pages.report.notebooks import fitting

SAMPLES = "data/samples/runs"
HOSTS = "data/samples/hosts"
ONE_RUN = "data/samples/causes"
PUBLISHED = "data/published/2016"
PARAMETERS: dict[str, dict[str, object]] = {
    "audit": {"runs": PUBLISHED},
    "wan": {"runs": "data/samples/wan"},
    "stress": {"runs": "data/samples/stress"},
    "faults": {"runs": "data/samples/faults"},
    "latency": {"runs": SAMPLES, "test_case": "rpc-call"},
    "compare": {"before": HOSTS, "after": HOSTS},
}
OF_REPORTS = ("thread_sweep", "node_cpu", "report", "hosts")
"""Notebooks executed for a report; all others run on the samples."""

BATCH = (ONE_RUN, PUBLISHED)
"""Folders of a batch over which one notebook is executed."""

WRONG: tuple[tuple[dict[str, object], str], ...] = (
    ({"runz": HOSTS}, "this notebook has no parameter 'runz': it has runs, test_case"),
    ({"runs": 2016}, "parameter runs of this notebook is a text (papermill's -r), not 2016"),
)
"""Invalid parameters of a notebook, and the error of each."""


PENDING = (
    "systems: {rabbitmq: {topologies: [cmsm], settings: {nodes: [mq1],"
    " urls: ['amqp://perf:${NOBODY_SET_THIS}@mq1.example']}}}\n"
    "test_cases: [rpc-call]\nload: {green_threads: 1, duration_s: 3}\n"
)
"""A plan whose password is not set."""


@dataclass(frozen=True)
class Copies:
    """Executed notebooks in a folder, and the errors that ended some, by name of the copy."""

    folder: Path
    errors: Mapping[str, str]

    def sound(self, name: str) -> Path:
        """The copy of that name, which ended without an error."""
        assert self.errors.get(name) is None
        return self.folder / f"{name}.ipynb"


def execute(folder: Path, jobs: Sequence[tuple[Path, Path, Mapping[str, object]]]) -> Copies:
    """Execute notebooks as a report does, in one kernel: source, copy and parameters of each."""
    given = json.dumps([(str(source), str(copy), values) for source, copy, values in jobs])
    (folder / script.JOBS).write_text(given)
    argv = [sys.executable, "-P", script.__file__, str(folder)]
    env = {**os.environ, "JUPYTER_RUNTIME_DIR": str(folder / "runtime")}
    subprocess.run(argv, env=env, cwd=jobs[0][0].parent, check=True, capture_output=True)
    errors = json.loads((folder / script.ERRORS).read_text())
    return Copies(folder, {Path(copy).stem: error for copy, error in errors.items()})


@pytest.fixture(scope="module")
def copies(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Copies:
    """The notebooks executed outside reports; recorded files stay unchanged.

    The name of a copy begins with the name of its notebook.
    """
    folder = tmp_path_factory.mktemp("copies")
    (folder / "plan.yaml").write_text(PENDING)
    pending = {"plan": str(folder / "plan.yaml"), "runs": ONE_RUN, "run_pending": False}
    wanted: dict[str, Mapping[str, object]] = {
        **PARAMETERS,
        **{f"wan-{number}": given for number, (given, _) in enumerate(WRONG)},
        **{f"hosts-{number}": {"runs": runs} for number, runs in enumerate(BATCH)},
        "thread_sweep-pending": pending,
    }
    before = files(root)
    made = execute(
        folder,
        [
            (root / f"notebooks/{name.partition('-')[0]}.ipynb", folder / f"{name}.ipynb", values)
            for name, values in wanted.items()
        ],
    )
    assert files(root) == before
    return made


def files(root: Path) -> list[tuple[Path, int]]:
    """All recorded files, with their modification times."""
    folders = (root / "data" / name for name in ("samples", "published"))
    return sorted((path, path.stat().st_mtime_ns) for place in folders for path in place.rglob("*"))


@pytest.fixture(scope="module")
def report(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a report on several hosts.

    It is made from the root of the project, and recorded files stay unchanged.
    """
    out = tmp_path_factory.mktemp("reports") / "hosts"
    before = files(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        assert publish(Path(HOSTS), out) == out / "html" / "index.html"
    assert files(root) == before
    return out


def parameters(folder: Path) -> Mapping[str, Mapping[str, object]]:
    """The notebooks of a report on the folder, with their parameters."""
    return fitting(folder, samples.complete(folder))


def of_report(folder: Path) -> list[str]:
    """The names of the notebooks of a report on the folder."""
    return [*parameters(folder)]


def errors_and_warnings(path: Path) -> Iterator[str]:
    """The cells' output to stderr."""
    for cell in nbformat.read(path, as_version=4).cells:
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                yield output["text"]


def first_shown(path: Path) -> str:
    """The HTML of a notebook's first output."""
    cells = nbformat.read(path, as_version=4).cells
    outputs = (output for cell in cells for output in cell.get("outputs", []))
    return str(next(output["data"]["text/html"] for output in outputs if "data" in output))


def checked_text(notebook: Path) -> str:
    """Its text; asserts that it has figures and printed nothing to stderr.

    Its first output must answer the question of its plan, or compare two sets.
    """
    assert re.match(r"<h3>[^<]+\?</h3><ul>|<p>B against A, throughput at ", first_shown(notebook))
    assert list(errors_and_warnings(notebook)) == []
    text = notebook.read_text(encoding="utf-8")
    assert "data:image/svg+xml;base64" in text
    return text


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_notebook_runs_on_the_samples(copies: Copies, name: str) -> None:
    """It draws its figures, and prints nothing to stderr."""
    checked_text(copies.sound(name))


@pytest.mark.parametrize("name", OF_REPORTS)
def test_a_notebook_runs_for_a_report(report: Path, name: str) -> None:
    """It draws its figures, and prints nothing to stderr."""
    checked_text(report / "notebooks" / f"{name}.ipynb")


def test_a_wrong_parameter_ends_a_notebook(copies: Copies) -> None:
    """Papermill alone would only warn, and show the figures of the default."""
    for number, (_, reason) in enumerate(WRONG):
        assert reason in copies.errors[f"wan-{number}"]


def test_every_notebook_is_tested(root: Path) -> None:
    """A new notebook must be added to the lists above."""
    assert {path.stem for path in (root / "notebooks").glob("*.ipynb")} == {
        *PARAMETERS,
        *OF_REPORTS,
    }


def test_what_was_measured_shows_without_passwords(copies: Copies) -> None:
    """The plan names a password of an existing cluster; nothing runs, so none is needed."""
    checked_text(copies.sound("thread_sweep-pending"))


def test_a_batch_gives_a_copy_for_each_value(copies: Copies) -> None:
    """One notebook is executed over several folders, as in a papermill batch.

    The notebook on hosts handles a single host, and tables without hosts.
    """
    for number, runs in enumerate(BATCH):
        copy = copies.sound(f"hosts-{number}")
        assert nbformat.read(copy, as_version=4).metadata.papermill.parameters.runs == runs
        assert list(errors_and_warnings(copy)) == []
        assert "nothing to compare" in copy.read_text()


@pytest.mark.parametrize("name", OF_REPORTS)
def test_notebooks_are_part_of_the_report(report: Path, name: str) -> None:
    """Each is there as HTML, linked from the first page."""
    page = report / "html" / "index.html"
    text = page.read_text(encoding="utf-8")
    [link] = re.findall(rf'href="([^"]+/{name}\.html)"', text)
    assert (page.parent / link).stat().st_size > 0


def test_hosts_are_told_where_there_are_several(report: Path, root: Path) -> None:
    """Its notebook shows clocks and networks; the report on a single host has none."""
    [page] = (report / "html").rglob("hosts.html")
    assert "Who talked to whom" in page.read_text(encoding="utf-8")
    assert of_report(root / HOSTS) == [*OF_REPORTS]
    assert "hosts" not in of_report(root / SAMPLES)


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ("wan", {"wan": "rpc-chain", "faults": "rpc-chain"}),
        ("faults", {"faults": "transfer"}),
        ("stress", {"stress": "publish"}),
        ("runs", {}),
    ],
)
def test_a_report_has_the_notebooks_about_its_runs(
    root: Path, runs: str, expected: dict[str, str]
) -> None:
    """Conditions, faults and offered rates each have one, on a test case that has them."""
    given = parameters(root / "data/samples" / runs)
    cases = {name: values["test_case"] for name, values in given.items() if "test_case" in values}
    assert cases == expected


def test_notebooks_of_one_kernel_know_nothing_of_each_other(tmp_path: Path) -> None:
    """Each starts at the first cell without variables; a failure is reported and ends no other."""
    jobs: list[tuple[Path, Path, dict[str, object]]] = []
    for name, code in (("first", "kept = 1"), ("second", "print(kept)"), ("third", "print('on')")):
        cells = [nbformat.v4.new_code_cell(code)]
        kernel = {"kernelspec": {"name": "python3", "display_name": "", "language": "python"}}
        nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), tmp_path / name)
        jobs.append((tmp_path / name, tmp_path / f"{name}.ipynb", {}))
    assert execute(tmp_path, jobs).errors == {"second": "NameError: name 'kept' is not defined"}
    last = nbformat.read(jobs[2][1], as_version=4).cells[-1]
    assert last.execution_count == 1
    assert last.outputs[0].text == "on\n"


def test_a_failed_notebook_leaves_the_pages(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report has the other notebook; its first page and the error give the reason."""
    copies, out = tmp_path / "notebooks", tmp_path / "out"
    shutil.copytree(root / "notebooks", copies)
    failing = nbformat.read(copies / "thread_sweep.ipynb", as_version=4)
    failing.cells[-1].source = "{}['<b>*nothing*']"
    nbformat.write(failing, copies / "thread_sweep.ipynb")
    monkeypatch.setattr(notebooks, "NOTEBOOKS", copies)
    few = {"thread_sweep", "node_cpu"}
    monkeypatch.setattr(
        notebooks, "fitting", lambda *of: {n: g for n, g in fitting(*of).items() if n in few}
    )
    failure = "is written without notebook thread_sweep: KeyError: '<b>*nothing*'"
    with pytest.raises(ReportError, match=re.escape(f"{out}/html/index.html: {failure}")):
        publish(root / ONE_RUN, out)
    page = (out / "html/index.html").read_text(encoding="utf-8")
    assert "Thread sweep: missing, since it failed with KeyError: '&lt;b&gt;*nothing*'" in page
    assert [path.stem for path in (out / "notebooks").glob("*.html")] == ["node_cpu"]
    assert (out / "rabbitmq/index.rst").exists()


def test_a_report_names_no_folder_of_the_machine(report: Path, root: Path) -> None:
    """No text of a report contains the path of the project or a temporary path."""
    for path in report.rglob("*"):
        if path.suffix in {".html", ".ipynb", ".rst", ".json", ".csv", ".svg"}:
            text = path.read_text(encoding="utf-8")
            assert str(root) not in text, path
            assert str(report.parent) not in text, path


def test_a_folder_without_runs_is_named(tmp_path: Path) -> None:
    """The error is one sentence, and nothing is written."""
    with pytest.raises(MqperfError, match="holds no runs"):
        publish(tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()
