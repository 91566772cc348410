"""Plans and notebooks that come with mqperf, and recorded samples, which come with a package."""

from pathlib import Path

from mqperf.base.errors import InstallError, PlanError, TableError
from mqperf.base.problems import unknown

PACKAGE = Path(__file__).parents[1]
SAMPLES = {Path("samples"), Path("data/samples")}
"""How paths to samples begin."""


def shipped(kind: str) -> Path:
    """The folder of its ``plans`` or ``notebooks``, or of ``data/samples``.

    It is in the package, or at the top of a checkout.
    """
    installed = PACKAGE / "shipped" / kind
    return installed if installed.is_dir() else PACKAGE.parent / kind


def plan_file(path: Path) -> Path:
    """The file of the shipped plan that the path names, if nothing is there; else the path.

    Raises ``PlanError`` for a name alone that no shipped plan has.
    """
    if path.name != str(path) or (path.exists() and not path.is_dir()):
        return path
    plans = {file.stem: file for file in shipped("plans").glob("*.yaml")}
    file = plans.get(path.name)
    if file is None and not path.suffix:
        raise PlanError(f"no such file, and {unknown('shipped plan', path.name, [*plans])}")
    return file or path


def runs_folder(path: Path) -> Path:
    """The folder of the sample that a path such as ``samples/wan`` names, if nothing is there.

    Any other path is given as it is.  Raises ``TableError`` with the names of all samples where
    none is called so, and ``InstallError`` where there are none.
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
