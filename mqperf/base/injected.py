"""Checks of parameters that papermill injects into a notebook; it only warns of unknown ones."""

import ast
from collections.abc import Mapping, Sequence

from mqperf.base.errors import MqperfError

INJECTED = "# Parameters\n"
"""First line of the cell that papermill inserts after the notebook's parameters cell."""

TYPES = {
    str: "a text (papermill's -r)",
    bool: "True or False",
    int: "a whole number",
    list: "a list (papermill's -y)",
    dict: "a mapping (papermill's -y)",
}
"""Descriptions of parameter types in error messages."""


def check(cells: Sequence[str], values: Mapping[str, object]) -> None:
    """Raise ``MqperfError`` for a parameter that the notebook lacks, or a value of another type.

    ``cells`` are all that ran since the kernel started, ``values`` the variables they assigned.
    Nothing is checked unless these are three: the parameters, those that papermill injected, and
    the next cell.  A person may run cells in any order.
    """
    if len(cells) != 3 or not cells[1].startswith(INJECTED):
        return
    defaults = {name: ast.literal_eval(value) for name, value in _assigned(cells[0]).items()}
    for name in _assigned(cells[1]):
        if name not in defaults:
            raise MqperfError(
                f"this notebook has no parameter {name!r}: it has {', '.join(defaults)}"
            )
        if type(values[name]) is not (expected := type(defaults[name])):
            raise MqperfError(
                f"parameter {name} of this notebook is {TYPES[expected]}, not {values[name]!r}"
            )


def _assigned(cell: str) -> Mapping[str, ast.expr]:
    """Map each name that the cell assigns to its expression."""
    return {
        target.id: statement.value
        for statement in ast.parse(cell).body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
