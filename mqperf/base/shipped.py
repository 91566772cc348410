"""Plans and notebooks that come with mqperf."""

from pathlib import Path

from mqperf.base.errors import PlanError
from mqperf.base.problems import unknown

PACKAGE = Path(__file__).parents[1]


def shipped(kind: str) -> Path:
    """The folder of its ``plans`` or ``notebooks``: in the package, or at the top of a checkout."""
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
