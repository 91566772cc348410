"""Plans and notebooks that are shipped with mqperf, and recorded samples of ``mqperf-samples``."""

from pathlib import Path

from mqperf.base.errors import InstallError, PlanError, TableError
from mqperf.base.problems import unknown

PACKAGE = Path(__file__).parents[1]
SAMPLES = {Path("samples"), Path("data/samples")}
"""Folders by which a path refers to a sample."""


def shipped(kind: str) -> Path:
    """Return the folder of ``kind``: ``plans``, ``notebooks`` or ``data/samples``.

    It is in the installed package, or at the top of a checkout.
    """
    installed = PACKAGE / "shipped" / kind
    return installed if installed.is_dir() else PACKAGE.parent / kind


def plan_file(path: Path) -> Path:
    """Return the file of the shipped plan that a bare name of no existing file means, or the path.

    Raises ``PlanError`` for a bare name without a suffix that no shipped plan has.
    """
    if path.name != str(path) or (path.exists() and not path.is_dir()):
        return path
    plans = {file.stem: file for file in shipped("plans").glob("*.yaml")}
    file = plans.get(path.name)
    if file is None and not path.suffix:
        raise PlanError(f"no such file, and {unknown('shipped plan', path.name, [*plans])}")
    return file or path


def runs_folder(path: Path) -> Path:
    """Return the folder of a sample for a path such as ``samples/wan`` that does not exist.

    Any other path is returned as it is.  Raises ``TableError`` with the names of all samples for
    an unknown one, and ``InstallError`` where none are installed.
    """
    if path.exists() or SAMPLES.isdisjoint({path, path.parent}):
        return path
    folder = shipped("data/samples")
    names = sorted({run.parents[1].name for run in folder.glob("*/*/run.json")})
    if not names:
        raise InstallError(f"{path}: not there; recorded runs come with mqperf-samples: install it")
    if path.name not in names:
        raise TableError(f"{path}: there are samples/{', samples/'.join(names)}")
    return folder / path.name
