"""Parameters that papermill injects into a notebook, which only warns of those it does not know."""

import ast
from collections.abc import Mapping, Sequence

from mqperf.base.errors import MqperfError

INJECTED = "# Parameters\n"
"""How the cell begins that papermill puts behind the notebook's cell of parameters."""

TYPES = {
    str: "a text (papermill's -r)",
    bool: "True or False",
    int: "a whole number",
    list: "a list (papermill's -y)",
    dict: "a mapping (papermill's -y)",
}
"""Types of parameters, in the words of an error."""


def check(cells: Sequence[str], values: Mapping[str, object]) -> None:
    """Raise ``MqperfError`` for a parameter that the notebook lacks, or a value of another type.

    ``cells`` are all that ran since the kernel began, ``values`` what they gave.  Nothing is asked
    unless these are parameters, those that papermill injected, and one more: by hand cells run in
    any order.
    """
    if len(cells) != 3 or not cells[1].startswith(INJECTED):
        return
    defaults = {name: ast.literal_eval(value) for name, value in _assigned(cells[0]).items()}
    for name in _assigned(cells[1]):
        if name not in defaults:
            raise MqperfError(
                f"this notebook has no parameter {name!r}: it has {', '.join(defaults)}"
            )
        if type(values[name]) is not (wanted := type(defaults[name])):
            raise MqperfError(
                f"parameter {name} of this notebook is {TYPES[wanted]}, not {values[name]!r}"
            )


def _assigned(cell: str) -> Mapping[str, ast.expr]:
    """The names that a cell assigns, and what to each."""
    return {
        target.id: statement.value
        for statement in ast.parse(cell).body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
