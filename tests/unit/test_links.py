"""Links as plan, record and tables know them: the same quantities by the same names."""

from mqperf.columns import COLUMNS, LINK, TABLES, measured_column
from mqperf.plan import LinkPlan, LinkPoint
from mqperf.record import MeasuredLink

QUANTITIES = [column.name for column in LINK]


def test_every_quantity_has_its_columns() -> None:
    """What a plan may ask for can be measured, and stands in the table as asked and as measured."""
    asked = LinkPoint(delay_s=0.1, jitter_s=0.01, loss_share=0.2, bandwidth_bits_s=1_000_000)
    assert asked.quantities == asked.model_dump(exclude={"between"})
    assert [*asked.quantities] == [*MeasuredLink.model_fields] == QUANTITIES
    measured = {measured_column(name, when) for name in QUANTITIES for when in ("before", "after")}
    assert {*QUANTITIES, *measured} < {*TABLES["links"].columns}
    assert {"bandwidth_before_bits_s", "loss_after_share", "delay_before_s"} < measured
    assert measured <= COLUMNS.keys()


def test_delays_vary_fastest() -> None:
    """Of a link that is swept."""
    points = LinkPlan(delay_s=(0.1, 0.2), loss_share=(0.0, 0.5)).points()
    found = [(point.loss_share, point.delay_s) for point in points]
    assert found == [(0.0, 0.1), (0.0, 0.2), (0.5, 0.1), (0.5, 0.2)]
