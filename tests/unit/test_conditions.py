"""Conditions: every point under named circumstances, and factors against the first of them."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from factory import tables
from viewed import contents

from mqperf.base.errors import PlanError
from mqperf.lab.systems.in_plans import problems_of
from mqperf.pages.figures import factor_sheet
from mqperf.pages.figures.curves import swept
from mqperf.pages.questions import ANSWERS
from mqperf.pages.sections.forms import frame
from mqperf.plan import Plan
from mqperf.plan.file import plan_from
from mqperf.study import tables as rooms
from mqperf.study.stats import complete
from mqperf.study.stats.factors import factors
from mqperf.study.tables import Tables, conform, varied
from mqperf.study.tables.axis_words import shown_values

FREEZE = {"do": "freeze", "node": "Master", "at_s": 1, "for_s": 1}
FROZEN = {"actions": [FREEZE]}
BESIDE = {"background": [{"test_case": "rpc-cast", "green_threads": 2}]}


def plan(conditions: Mapping[str, object] | None, **keys: object) -> Plan:
    """A small plan with these conditions."""
    data = {
        "name": "small",
        "title": "small",
        "systems": {"rabbitmq": {"topologies": ["cmsm"]}},
        "test_cases": ["rpc-call"],
        "load": {"green_threads": [1, 4], "duration_s": 5},
        **({} if conditions is None else {"conditions": conditions}),
        **keys,
    }
    return plan_from(data, "small", problems_of)


def test_every_point_is_measured_under_every_condition() -> None:
    """Each is a case of its own; what a condition does not set is as the plan says."""
    cases = plan({"plain": {}, "frozen": FROZEN, "alone": {"background": []}}, **BESIDE).cases()
    assert [(case.condition, case.green_threads) for case in cases] == [
        (name, threads) for name in ("plain", "frozen", "alone") for threads in (1, 4)
    ]
    assert len({case.id for case in cases}) == len({case.point for case in cases}) == 6
    assert [len(case.actions) for case in cases] == [0, 0, 1, 1, 0, 0]
    assert [len(case.background) for case in cases] == [1, 1, 1, 1, 0, 0]


def test_a_link_of_a_condition_takes_the_place_of_those_that_are_swept() -> None:
    """The count of cases agrees with the cases."""
    both = plan(
        {"near": {"link": {"delay_s": 0.0}}, "as planned": {}}, link={"delay_s": [0.1, 0.2]}
    )
    assert [run.link.delay_s for run in both.cases() if run.link] == [0.0, 0.0, 0.1, 0.1, 0.2, 0.2]
    assert both.number_of_cases == len(both.cases())


def test_a_plan_without_conditions_keeps_its_cases() -> None:
    """Its ids are those from before conditions existed."""
    (case, _) = plan(None).cases()
    assert case.condition is None
    assert case.id == "rabbitmq-cmsm-classic-rpc-call-t0001-p1-r1-3373382c"


@pytest.mark.parametrize(
    ("conditions", "words"),
    [
        ({"only": {}}, "one condition is nothing to compare"),
        ({"a": {"published_factor": 2}, "b": {}}, "the first condition is what"),
        ({"a": {}, "b": {"acts": []}}, "did you mean"),
        ({"a": {}, "b": {"link": {"delays": 1}}}, "did you mean"),
        ({"a": {}, "b": {"background": [{"test_case": "rpc-csat", "green_threads": 1}]}}, "rpc-c"),
        ({"a": {}, "b": {"link": {"loss_share": 1}}}, "less than 1"),
        ({"a": {}, "b": {"actions": [{**FREEZE, "at_s": 9}]}}, "lengthen load"),
        ({"a": {}, "../b": {}}, "conditions"),
    ],
)
def test_an_invalid_condition_is_refused(conditions: Mapping[str, object], words: str) -> None:
    """The error is one sentence with the place."""
    with pytest.raises(PlanError, match=r".") as caught:
        plan(conditions)
    assert words in str(caught.value)


LATENCIES = {"near": 0.010, "far": 0.070, "same": 0.010}


def measured(noise: float = 0.02, repeats: int = 3) -> Tables:
    """Invented runs of one point under three conditions: seven times the latency under one."""
    random = np.random.default_rng(11)
    rows: dict[str, list[dict[str, object]]] = {
        name: [] for name in ("runs", "messages", "latency", "cpu")
    }
    for condition, latency in LATENCIES.items():
        for repeat in range(1, repeats + 1):
            key = {
                "run": f"{condition}-{repeat}",
                "point": condition,
                "system": "rabbitmq",
                "topology": "cmsm",
                "queues": "classic",
                "test_case": "rpc-call",
                "threads": 1,
                "repeat": repeat,
            }
            mean = latency * np.exp(noise * random.normal())
            link = {"condition": condition, "delay_s": (latency - 0.01) / 2}
            rows["runs"].append(key | link | {"status": "done", "asked_s": 20.0, "processes": 1})
            rows["messages"].append(key | {"throughput_msg_s": 1 / mean})
            rows["latency"].append(key | {"latency_mean_s": mean, "latency_p99_s": 2 * mean})
            broker = {"process": "Master", "kind": "broker", "scope": "window"}
            rows["cpu"].append(
                key | broker | {"total_cores": 0.1 / mean * np.exp(noise * random.normal())}
            )
    planned = pd.DataFrame(rows["messages"]).drop(columns="throughput_msg_s")
    planned["condition"] = planned["point"]
    planned["condition_place"] = planned["point"].map([*LATENCIES].index) + 1
    planned["published_factor"] = planned["point"].map({"far": 7.1})
    frames = {name: conform(name, pd.DataFrame(records)) for name, records in rows.items()}
    return frames | {"planned": conform("planned", planned)}


def row(ratios: pd.DataFrame, condition: str, figure: str) -> Mapping[Any, Any]:
    """The row of a figure under a condition."""
    rows = ratios[(ratios["condition"] == condition) & (ratios["figure"] == figure)]
    return rows.to_dict("records")[0]


def test_factors_are_found_where_they_are_and_nowhere_else() -> None:
    """A factor of seven is within its interval and has a verdict; equal conditions have none."""
    ratios = factors(measured())
    far, same = (row(ratios, name, "latency_mean_s") for name in ("far", "same"))
    assert far["ratio_low"] < 7 < far["ratio_high"]
    assert far["ratio_high"] / far["ratio_low"] < 1.3
    assert (far["verdict"], far["published_factor"]) == ("worse", 7.1)
    assert same["ratio_low"] < 1 < same["ratio_high"]
    assert same["verdict"] == "cannot tell"
    assert math.isnan(row(ratios, "far", "throughput_msg_s")["published_factor"])


def test_p_values_are_corrected_for_all_conditions_together() -> None:
    """More conditions give more chances for false positives."""
    ratios = factors(measured(noise=0.2))
    assert ratios["p_value"].notna().sum() == len(ratios) == 2 * 4
    smallest = ratios["p_value"].min()
    assert ratios["p_adjusted"].min() == pytest.approx(len(ratios) * smallest)


def test_without_runs_under_the_first_condition_there_are_no_factors() -> None:
    """Without conditions there are none either; neither is an error."""
    frames = dict(measured())
    gone = frames | {"runs": frames["runs"][frames["runs"]["condition"] != "near"]}
    assert factors(gone).empty
    del frames["planned"]
    assert factors(frames).empty


def test_a_parameter_that_conditions_set_is_no_axis() -> None:
    """A delay that goes with conditions is no axis of its own."""
    assert varied(measured()["runs"]) == ("condition",)


def test_a_page_says_factor_interval_and_what_was_published(tmp_path: Path) -> None:
    """In the order of the plan, each with its interval; the figure is drawn."""
    frames = {**measured(), "factors": factors(measured())}
    [content] = contents(frames, "factors", "rpc-call")
    shown = frame(content)
    assert shown["condition"].tolist() == ["far", "same"]
    far = shown.iloc[0]
    assert far["factor of latency"].startswith(("6.", "7."))
    assert " to " in far["factor of latency"]
    assert far["published"] == "7.1"
    assert "under *near*" in " ".join(content.words)
    sheet = factor_sheet(frames["factors"])
    sheet.savefig(tmp_path / "factors.svg")
    assert [label.get_text() for label in sheet.axes[0].get_yticklabels()] == [
        "far, 1 thread",
        "same, 1 thread",
    ]


def test_conditions_of_several_layouts_are_told_apart() -> None:
    """Labels in the figure of factors have the layout."""
    of_one = factors(measured())
    both = pd.concat([of_one, of_one.assign(queues="quorum")])
    labels = [text.get_text() for text in factor_sheet(both).axes[0].get_yticklabels()]
    assert len({*labels}) == len(labels) == 2 * len(of_one[of_one["figure"] == "latency_mean_s"])


@pytest.mark.takes_long
def test_a_staircase_has_no_factor(root: Path) -> None:
    """Its latency is that of all its rates, whatever the condition."""
    frames = complete(rooms.read(root / "data/samples/wan"))
    assert ANSWERS["factor"].asked(frames)
    steps = frames["rate_steps"].reindex([0])
    assert not ANSWERS["factor"].asked({**frames, "rate_steps": steps})


@pytest.mark.takes_long
def test_complete_tables_have_factors() -> None:
    """The table ``factors`` exists without conditions, and is empty."""
    assert complete(tables())["factors"].empty


@pytest.mark.takes_long
def test_tables_and_axes_have_conditions_in_the_order_of_the_plan(root: Path) -> None:
    """The order is not alphabetical: the reference comes first wherever rows are sorted."""
    frames = complete(rooms.read(root / "data/samples/wan"))
    names = list(rooms.conditions(frames)["condition"])
    assert names[0] == "undisturbed"
    assert names != sorted(names)
    assert list(frames["runs"]["condition"]) == names
    points = frames["points"]
    mixed = rooms.in_curves(points)
    assert list(mixed["condition"]) == names
    assert [word for word, _ in rooms.split(points, ["condition"])] == [
        f"condition {name}" for name in names
    ]
    assert shown_values("condition", points) == names
    assert swept(points).texts == tuple(names)
