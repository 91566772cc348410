"""The answer in a few lines that is shown at the end of a sweep."""

import re
import shutil
from pathlib import Path

import pytest
import samples
from typer.testing import CliRunner

from mqperf.front.cli import app
from mqperf.pages import run_line
from mqperf.pages.questions.first_screen import FirstScreen, first_screen, lines, of_folder
from mqperf.pages.report.build import publish
from mqperf.pages.report.rst import Text
from mqperf.record import runs

pytestmark = pytest.mark.takes_long

SAMPLES = "data/samples/runs"


def test_the_best_points_stand_in_one_table(root: Path) -> None:
    """It has a line per layout and test case with aligned columns; the next commands come last."""
    lines = list(of_folder(root / SAMPLES))
    start = next(place for place, line in enumerate(lines) if line.startswith("topology"))
    table = lines[start : lines.index("", start)]
    assert len(table) == 1 + 2 * 2 * 3
    assert len({line.find("CALL") for line in table if "CALL" in line}) == 1
    row = next(line for line in table if "Client -> Master, Server -> Master  " in line)
    assert row.split() == [
        *("Client", "->", "Master,", "Server", "->", "Master"),
        *("CALL", "1407.0", "1407.0", "5", "3.1", "6.1", "none", "0"),
    ]
    behind = next(line for line in table if "NOTIFY" in line and line.endswith(" 4"))
    assert behind.split()[7:10] == ["\N{EN DASH}", "2709.3", "5"]
    assert lines[-2:] == [
        f"15 doubts: mqperf audit {root / SAMPLES}",
        f"pages to publish: mqperf report {root / SAMPLES} --out reports/runs",
    ]


def test_the_current_folder_has_a_name(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The suggested command works in the current folder, too."""
    monkeypatch.chdir(root / SAMPLES)
    [*_, last] = of_folder(Path())
    assert last == "pages to publish: mqperf report . --out reports/runs"


@pytest.fixture(scope="module")
def screen(root: Path) -> FirstScreen:
    """The answer of the recorded runs."""
    return first_screen(samples.complete(root / SAMPLES))


@pytest.mark.parametrize("width", [250, 150, 100, 40])
def test_an_answer_fits_the_terminal(screen: FirstScreen, width: int) -> None:
    """It is a table if that fits; otherwise each row is a paragraph with all its figures."""
    whole, shown = list(lines(screen)), list(lines(screen, width))
    assert max(map(len, shown)) <= width
    text = " ".join(" ".join(shown).split())
    if width >= max(map(len, whole)):
        assert "topology and queues: " not in text
        return
    assert (
        "Client -> Slave-1, Server -> Slave-2, CALL sustained, msg/sec: 1107.0; raw maximum,"
        " msg/sec: 1107.0; threads: 5; p50, ms: 3.9; p99, ms: 7.1; bottleneck: none; doubts: 0"
    ) in text


def test_no_line_begins_with_a_unit() -> None:
    """A number and its unit stay on one line."""
    sentence = Text("**kill**: no message for 7.1 s, p99 12 ms, throughput -42 to -15 %.")
    for width in range(20, 60):
        shown = [*lines(FirstScreen([], "", [sentence]), width)]
        assert not any(re.match(r" *(s|ms|%)(?!\w)", line) for line in shown)
        assert " ".join(" ".join(shown[1:]).split()) == sentence.replace("**", "")


def test_the_line_of_a_run_has_throughput_and_p99(root: Path) -> None:
    """The figures are those of the tables, and the doubts those that this run raises alone."""
    by_name = {run.id.rsplit("-p1", 1)[0]: run for run in runs(root / SAMPLES)}
    sound = run_line.of_run_if_sound(by_name["rabbitmq-cmsm-classic-rpc-call-t0005"])
    assert sound == "1407.0 msg/sec, p99 6.1 ms, no doubts"
    behind = run_line.of_run_if_sound(by_name["rabbitmq-cmsm-classic-rpc-cast-t0005"])
    assert behind.startswith("3028.3 msg/sec, p99 480.1 ms, doubts: backlog, unequal-rates, ")


def test_a_run_that_cannot_be_read_is_reported(root: Path, tmp_path: Path) -> None:
    """An unreadable run gives a line with the reason, so that the sweep goes on."""
    sample = next(runs(root / SAMPLES))
    (tmp_path / sample.id).mkdir()
    (tmp_path / sample.id / "run.json").write_text("{")
    [run] = runs(tmp_path)
    assert run_line.of_run_if_sound(run).startswith("its figures cannot be read: ")


def test_a_sweep_goes_on_after_any_error_in_its_figures(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even an unexpected exception only gives a line."""
    monkeypatch.setattr(run_line, "doubts", lambda _tables: 1 / 0)
    line = run_line.of_run_if_sound(next(runs(root / SAMPLES)))
    assert line == "its figures cannot be read: division by zero"


def test_commands_to_copy_are_quoted(root: Path, tmp_path: Path) -> None:
    """A folder with a space is one word to a shell."""
    folder = tmp_path / "two words"
    shutil.copytree(root / "data/samples/hosts", folder)
    *_, audit, report = of_folder(folder)
    assert audit.endswith(f": mqperf audit '{folder}'")
    assert report.endswith(f"mqperf report '{folder}' --out 'reports/two words'")


@pytest.mark.starts_programs
def test_a_report_says_what_it_is_doing(root: Path, tmp_path: Path) -> None:
    """The log has a line for each step; at the end the first page exists."""
    log: list[str] = []
    page = publish(root / "data/samples/faults", tmp_path / "out", notebooks=False, tell=log.append)
    assert log == [
        "reading runs",
        "checking 2 runs",
        "writing 1 topology page with figures",
        "making HTML",
    ]
    assert page.is_file()


def test_a_repeated_command_says_that_all_is_recorded(root: Path, tmp_path: Path) -> None:
    """With no run pending, the message counts the two runs that were recorded earlier."""
    folder = tmp_path / "faults"
    shutil.copytree(root / "data/samples/faults", folder)
    result = CliRunner().invoke(app, ["run", str(folder / "plan.yaml"), "--runs", str(folder)])
    assert result.exit_code == 0, result.output
    text = " ".join(result.output.split())
    assert f"nothing to run: 2 runs already recorded in {folder}" in text
    assert "0 runs recorded" not in text
