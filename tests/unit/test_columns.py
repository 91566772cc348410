"""Columns and tables that follow from the models of loads and from the limits of latencies."""

from typing import Annotated, Literal

import pytest
from pydantic import Field

from mqperf.base.errors import PluginError
from mqperf.plan import PERCENTILES, SHARES, FailWhen, Frozen, Hold
from mqperf.plan.columns import COLUMNS, FIGURES, TABLES, TIMES, Column, Table, parameters
from mqperf.plan.columns import tables as register
from mqperf.plan.columns.parameters import column_of
from mqperf.plan.load import GENERATORS


class Keys(Frozen):
    """Keys of a load."""

    speed: Annotated[float | None, Field(gt=0, title="how fast", description="So fast."), TIMES]
    often: Annotated[int, Field(ge=0, description="So often.")] = 0
    way: Literal["up", "down"] = "up"


def test_a_key_of_a_load_is_a_column() -> None:
    """Its title is the label, its limits are the check; what the model lacks stays empty."""
    columns = {name: column_of(name, field) for name, field in Keys.model_fields.items()}
    assert columns == {
        "speed": Column(
            *("speed", "float64", "So fast.", "how fast", "", "x"),
            check="positive",
            parameter=True,
        ),
        "often": Column("often", "Int64", "So often.", check="not negative", parameter=True),
        "way": Column("way", "string", "", parameter=True),
    }
    assert columns["speed"].heading() == "how fast, x"


def test_every_key_of_every_load_can_be_swept() -> None:
    """Each is a parameter with the meaning of its field, and a column of tables with sweeps."""
    keys = {name for generator in GENERATORS.values() for name in generator.parameters.model_fields}
    assert keys <= {*parameters()}
    assert all(COLUMNS[name].meaning for name in keys)
    assert TABLES["runs"].with_parameters(["credit"])[-1] == "credit"


def test_percentiles_are_spelled_once() -> None:
    """Figures, columns and keys follow from the limits that a plan may have."""
    assert SHARES == {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}
    assert [*PERCENTILES] == [f"latency_{name}_s" for name in SHARES]
    for names in (Hold.model_fields, FailWhen.model_fields, FIGURES, TABLES["latency"].columns):
        assert [name for name in names if name in PERCENTILES] == [*PERCENTILES]
    assert COLUMNS["latency_p999_s"].meaning.startswith("99.9th percentile of latency.")
    assert COLUMNS["latency_p50_s"].label == "p50"


def test_a_column_has_one_type(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table with another column's name in another unit is an error."""
    odd = Table("odd", "a row", (Column("throughput_msg_s", "float64", "", unit="kB"),))
    monkeypatch.setattr(register, "TABLES", {**TABLES, "odd": odd})
    with pytest.raises(PluginError, match="table odd has the column throughput_msg_s as float64"):
        dict(register.Columns())
