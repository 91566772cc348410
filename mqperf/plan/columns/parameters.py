"""Columns of the parameters that plans may vary beside the number of threads.

Those of a load are derived from the fields of its generator's model.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt
from pydantic.fields import FieldInfo

from mqperf.base.registry import Registry
from mqperf.plan.columns.column import Check, Column, Dtype
from mqperf.plan.columns.runs import CONDITION, LINK, RUNS, SETTINGS

OTHER_PARAMETERS = Registry("columns", (*SETTINGS, CONDITION, *LINK))
"""Parameters of no generator; packages add those of their systems' settings."""

DTYPES: dict[object, Dtype] = {int: "Int64", float: "float64", str: "string", bool: "string"}


@dataclass(frozen=True, slots=True)
class Unit:
    """The unit of a key of a load, as metadata in the annotation of its field.

    ``stored`` is the unit in plans and tables, ``shown`` the unit for display where that differs.
    """

    stored: str = ""
    shown: str = ""


BYTES, SECONDS, MILLISECONDS = Unit("bytes"), Unit("s"), Unit("ms")
MESSAGE_RATE = Unit("msg/s", "msg/sec")
TIMES = Unit(shown="x")


@cache
def parameter_columns() -> dict[str, Column]:
    """Return the columns of all parameters by name: of runs, of generators, then the others."""
    of_runs = [column for column in RUNS if isinstance(column, Column) and column.parameter]
    columns = {column.name: column for column in of_runs} | _of_generators()
    return columns | {name: column for name, column in OTHER_PARAMETERS.items() if column.parameter}


def parameters() -> tuple[str, ...]:
    """Return the names of all parameters."""
    return tuple(parameter_columns())


def _of_generators() -> dict[str, Column]:
    """Return a column for each field, as the first generator that has it defines it.

    A field that no earlier generator has is inserted before the next field that one has.
    """
    from mqperf.plan.load import GENERATORS  # imports plans, and so this module

    order: list[str] = []
    columns: dict[str, Column] = {}
    for generator in GENERATORS.values():
        position = len(order)
        for name, field in reversed(generator.parameters.model_fields.items()):
            if name in columns:
                position = order.index(name)
            else:
                columns[name] = column_of(name, field)
                order.insert(position, name)
    return {name: columns[name] for name in order}


def column_of(name: str, field: FieldInfo) -> Column:
    """Derive the column of a field: its title is the label, its description the meaning."""
    unit = next((item for item in field.metadata if isinstance(item, Unit)), Unit())
    return Column(
        name,
        next(_dtypes(field.annotation)),
        field.description or "",
        field.title or "",
        unit.stored,
        unit.shown,
        check=_check(field.metadata),
        parameter=True,
    )


def _dtypes(annotation: object) -> Iterator[Dtype]:
    """Yield the dtypes of an annotation; a ``Literal`` is stored as a string."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        yield from _dtypes(arguments[0])
    elif origin in {Union, UnionType}:
        for argument in arguments:
            yield from _dtypes(argument)
    elif origin is Literal:
        yield "string"
    elif annotation in DTYPES:
        yield DTYPES[annotation]


def _check(metadata: list[Any]) -> Check:
    """Derive the check of a column from the limits of its field."""
    for limit in metadata:
        if isinstance(limit, Gt) or (isinstance(limit, Ge) and limit.ge != 0):
            return "positive"
        if isinstance(limit, Ge):
            return "not negative"
    return "any"
