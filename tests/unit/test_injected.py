"""Parameters that papermill gives must be parameters that the notebook has."""

import json
from pathlib import Path

import pytest

from mqperf.base import injected
from mqperf.base.errors import MqperfError

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
OWN = 'plan = ""  # a plan file\nthreads = [1, 10]\nrepeats = 1\nload = {}\nrun_pending = True\n'


def check(*cells: str) -> None:
    values: dict[str, object] = {}
    for cell in cells[:-1]:
        exec(cell, values)  # noqa: S102 (as a kernel does)
    injected.check(cells, values)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            'plam = "a.yaml"',
            "no parameter 'plam': it has plan, threads, repeats, load, run_pending",
        ),
        ("plan = 2016", r"plan of this notebook is a text \(papermill's -r\), not 2016"),
        ("threads = 10", r"threads of this notebook is a list \(papermill's -y\), not 10"),
        ("repeats = True", "repeats of this notebook is a whole number, not True"),
        ("repeats = float('nan')", "repeats of this notebook is a whole number, not nan"),
        ("load = None", r"load of this notebook is a mapping \(papermill's -y\), not None"),
        ('run_pending = "no"', "run_pending of this notebook is True or False, not 'no'"),
    ],
)
def test_invalid_parameters_are_named(line: str, reason: str) -> None:
    """Unknown names and values of another type are named in one sentence."""
    with pytest.raises(MqperfError, match=reason):
        check(OWN, f"# Parameters\n{line}\n", "notebook.set_up()")


@pytest.mark.parametrize(
    "cells",
    [
        (OWN, '# Parameters\nplan = "a"\nthreads = []\nload = {"a": 1}\n', "notebook.set_up()"),
        (OWN, "notebook.set_up()"),
        (OWN, "plam = 1", "notebook.set_up()"),
        ("mine = 1", "# Parameters\nruns = 2\n", "mine = 2", "notebook.set_up()"),
        (),
    ],
)
def test_cells_run_by_hand_are_no_complaint(cells: tuple[str, ...]) -> None:
    """Valid parameters pass, and so do cells run by hand in any order."""
    check(*cells)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_notebook_is_set_up_behind_its_parameters(path: Path) -> None:
    """set_up() follows the parameters, whose defaults are valid."""
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    first, second = ("".join(cell["source"]) for cell in cells[:2])
    assert cells[0]["metadata"]["tags"] == ["parameters"]
    assert "notebook.set_up()" in second
    check(first, f"# Parameters\n{first}", second)
    with pytest.raises(MqperfError, match="no parameter 'nobody'"):
        check(first, "# Parameters\nnobody = 1\n", second)
