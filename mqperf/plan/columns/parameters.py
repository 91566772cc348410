"""What plans may vary beside the number of threads: the columns of these parameters.

Those of a load are the fields of its generator's model.
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

FURTHER = Registry("columns", (*SETTINGS, CONDITION, *LINK))
"""Parameters that are no generator's; packages add those of settings of their systems."""

DTYPES: dict[object, Dtype] = {int: "Int64", float: "float64", str: "string", bool: "string"}


@dataclass(frozen=True, slots=True)
class Unit:
    """The unit of a key of a load, in the annotation of its field.

    ``stored`` is that of the plan and of tables, ``shown`` what a person reads where that differs.
    """

    stored: str = ""
    shown: str = ""


BYTES, SECONDS, MILLISECONDS = Unit("bytes"), Unit("s"), Unit("ms")
MESSAGE_RATE = Unit("msg/s", "msg/sec")
TIMES = Unit(shown="x")


@cache
def parameter_columns() -> dict[str, Column]:
    """The columns of all parameters by name: of every run, of the generators, of all else."""
    of_runs = [column for column in RUNS if isinstance(column, Column) and column.parameter]
    columns = {column.name: column for column in of_runs} | _of_generators()
    return columns | {name: column for name, column in FURTHER.items() if column.parameter}


def parameters() -> tuple[str, ...]:
    """Their names."""
    return tuple(parameter_columns())


def _of_generators() -> dict[str, Column]:
    """A column for each field, as the first generator that has it says.

    What a generator does not share with those before it stands before the next key that it does.
    """
    from mqperf.plan.load import GENERATORS  # which import plans, and so this module

    order: list[str] = []
    columns: dict[str, Column] = {}
    for generator in GENERATORS.values():
        place = len(order)
        for name, field in reversed(generator.parameters.model_fields.items()):
            if name in columns:
                place = order.index(name)
            else:
                columns[name] = column_of(name, field)
                order.insert(place, name)
    return {name: columns[name] for name in order}


def column_of(name: str, field: FieldInfo) -> Column:
    """The column of a field: its title is the label, its description the meaning."""
    unit = next((mark for mark in field.metadata if isinstance(mark, Unit)), Unit())
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
    """How values of a type are stored; a choice is one of words."""
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
    """What the limits of a field say of its values."""
    for limit in metadata:
        if isinstance(limit, Gt) or (isinstance(limit, Ge) and limit.ge != 0):
            return "positive"
        if isinstance(limit, Ge):
            return "not negative"
    return "any"
