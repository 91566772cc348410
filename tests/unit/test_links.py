"""Links in plan, record and tables have the same quantities under the same names."""

import re
from pathlib import Path
from typing import Any, cast

import pytest
from pydantic import JsonValue

from mqperf.base.errors import HostError, PlanError
from mqperf.hosts import Hosts, LocalHost
from mqperf.lab.actions.in_plans import problems_of
from mqperf.lab.links import LINKS, Laid, choose
from mqperf.lab.runner.linking import Linked, check_links
from mqperf.lab.systems.possible import check_plan
from mqperf.plan import ActionPlan, Case, LinkPlan, LinkPoint, Plan, statistically_known, tolerances
from mqperf.plan.columns import COLUMNS, LINK, TABLES, measured_column
from mqperf.plan.file import parse_plan
from mqperf.record import MeasuredLink
from mqperf_links.lab import ends, relay

QUANTITIES = [column.name for column in LINK]


def test_every_quantity_has_its_columns() -> None:
    """Each quantity of a plan is measured, and has columns as requested and as measured."""
    point = LinkPoint(delay_s=0.1, jitter_s=0.01, loss_share=0.2, bandwidth_bits_s=1_000_000)
    assert point.quantities == point.model_dump(exclude={"between"})
    assert [*point.quantities] == [*MeasuredLink.model_fields] == QUANTITIES
    measured = {measured_column(name, when) for name in QUANTITIES for when in ("before", "after")}
    assert {*QUANTITIES, *measured} < {*TABLES["links"].columns}
    assert {"bandwidth_before_bits_s", "loss_after_share", "delay_before_s"} < measured
    assert measured <= COLUMNS.keys()


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"node": "Master"}, "say how many connections: one of share and count"),
        ({"node": "Master", "share": 0.5, "count": 2}, "one of share and count"),
        ({"node": "Master", "share": 0}, "expected more than 0"),
        ({"link": True, "count": 1}, "cut-connections is done to a node"),
    ],
)
def test_a_share_or_number_of_connections_is_cut(keys: dict[str, object], words: str) -> None:
    """Exactly one of share and count is valid; the error says so."""
    spec = {"do": "cut-connections", "at_s": 1, "for_s": 1, **keys}
    [problem] = problems_of([spec])
    assert words in problem.text


def test_delays_vary_fastest() -> None:
    """In a sweep of links."""
    points = LinkPlan(delay_s=(0.1, 0.2), loss_share=(0.0, 0.5)).points()
    pairs = [(point.loss_share, point.delay_s) for point in points]
    assert pairs == [(0.0, 0.1), (0.0, 0.2), (0.5, 0.1), (0.5, 0.2)]


PLAN = """\
systems: {rabbitmq: {topologies: [cmsm]}}
load: {green_threads: 1, duration_s: 20}
link: {between: [server, broker], delay_s: 0.05}
actions:
  - {do: disconnect, link: true, at_s: 3, for_s: 2}
"""


def plan(text: str) -> Plan:
    """A plan, checked as by a command."""
    parsed = parse_plan(text, Path("wan.yaml"))
    check_plan(parsed)
    return parsed


def test_an_action_is_done_to_the_link() -> None:
    """Actions on nodes are stored as before, so that their cases keep their ids."""
    [case] = plan(PLAN + "test_cases: [rpc-call]\n").cases()
    assert [action.target for action in case.actions] == ["the link"]
    assert case.model_dump()["actions"] == (
        {"do": "disconnect", "link": True, "at_s": 3.0, "for_s": 2.0},
    )
    assert Case.model_validate_json(case.model_dump_json()) == case
    freeze = ActionPlan(do="freeze", node="Master", at_s=1, for_s=1)
    assert freeze.model_dump() == {"do": "freeze", "node": "Master", "at_s": 1.0, "for_s": 1.0}


ACTION = "{do: disconnect, link: true, at_s: 3, for_s: 2}"


@pytest.mark.parametrize(
    ("sound", "wrong", "words"),
    [
        (ACTION, "{do: freeze, link: true, at_s: 3, for_s: 2}", "freeze is done to a node: say n"),
        (ACTION, "{do: disconnect, node: Master, at_s: 3, for_s: 2}", "done to the link: say link"),
        (ACTION, "{do: disconnect, at_s: 3, for_s: 2}", "say one of node:, link: true and host:"),
        (
            ACTION,
            ACTION.replace("link:", "node: Master, link:"),
            "say one of node:, link: true and host:",
        ),
        (ACTION, ACTION.replace("for_s: 2", "for_s: 20"), "ends 23 s after the start of a window"),
        (ACTION, f"{ACTION}\n  - {{do: black-hole, link: true, at_s: 4, for_s: 2}}", "has ended"),
        ("link: {between: [server, broker], delay_s: 0.05}\n", "", "the plan has none: say link:"),
        ("delay_s: 0.05", "delay_s: -0.05", "link.delay_s: expected at least 0, got -0.05"),
        ("delay_s: 0.05", "loss_share: 1", "link.loss_share: expected less than 1"),
        ("delay_s: 0.05", "bandwidth_bits_s: 0", "expected at least 1,000, got 0"),
        ("server, broker", "broker, broker", "broker is named twice: name two different roles"),
        ("server, broker", "server, cloud", "'cloud'; known: client, server, broker"),
    ],
)
def test_an_invalid_plan_is_refused(sound: str, wrong: str, words: str) -> None:
    """The error is one sentence, before anything is started."""
    with pytest.raises(PlanError, match=re.escape(words)):
        plan(PLAN.replace(sound, wrong))


def test_a_host_at_both_ends_is_refused() -> None:
    """On this machine all roles are on one host, which has no link to itself."""
    with pytest.raises(HostError, match="local is at both ends: it needs hosts: laboratory"):
        choose(LINKS.values(), LinkPoint(delay_s=0.1), Hosts.alone(LocalHost()))


@pytest.mark.parametrize(
    ("point", "words"),
    [
        ({"delay_s": 0.01, "jitter_s": 0.01}, "jitter_s may be a third of delay_s at most"),
        ({"bandwidth_bits_s": 10**10}, "it carries no more than 1,000,000,000 bits/s"),
    ],
)
def test_a_link_beyond_the_relay_is_refused(point: dict[str, float], words: str) -> None:
    """Limits of the relay are reported in one sentence."""
    assert words in str(relay.obstacle(LinkPoint.model_validate(point), OTHERS))


def test_rights_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only root can create network devices."""
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert relay.obstacle(LinkPoint(), OTHERS) == (
        "it needs root, who alone may make network devices"
    )


def test_links_of_all_conditions_are_tried_before_anything_is_measured() -> None:
    """Links of every condition are checked, even if the first has none."""
    near = PLAN.partition("link:")[0] + "test_cases: [rpc-call]\n"
    check_links(plan(near), Hosts.alone(LocalHost()))
    far = near + "conditions: {near: {}, far: {link: {delay_s: 0.1}}}\n"
    with pytest.raises(HostError, match="no link can be made between client and broker"):
        check_links(plan(far), Hosts.alone(LocalHost()))


class Named(LocalHost):
    """This machine under another name."""

    def __init__(self, name: str) -> None:
        self.name = name


OTHERS = Hosts((Named("mq1"),), (Named("load1"),), (Named("load2"),))


@pytest.mark.starts_programs
def test_hosts_that_are_no_namespaces_are_refused() -> None:
    """Even this machine itself is not a namespace."""
    message = "mq1 is no namespace of this machine: it needs hosts: laboratory"
    assert ends.found(LinkPoint(between=("broker", "client")), OTHERS) == message


def test_a_link_may_be_off_by_so_much() -> None:
    """1 ms or 2 % of the delay, whichever is larger, and more with jitter."""
    off = tolerances(LinkPoint(delay_s=0.01).quantities)
    assert off["delay_s"] == pytest.approx(0.001)
    point = LinkPoint(delay_s=0.2, jitter_s=0.04, loss_share=0.05, bandwidth_bits_s=10**8)
    assert tolerances(point.quantities) == pytest.approx(
        {"delay_s": 0.01, "jitter_s": 0.008, "loss_share": 0.011, "bandwidth_bits_s": 5e6}
    )
    assert tolerances({**point.quantities, "jitter_s": 0.0})["delay_s"] == pytest.approx(0.004)


class Shaky:
    """A link that is off for this number of measurements, and then as requested."""

    def __init__(self, times: int) -> None:
        self.times = times

    def measure(self) -> MeasuredLink:
        self.times -= 1
        return MeasuredLink(delay_s=0.0515 if self.times >= 0 else 0.0505, loss_share=0.0)

    def facts(self) -> dict[str, JsonValue]:
        return {"seed": 1}


def test_a_link_that_is_off_every_time_fails_the_point() -> None:
    """A link that is off only at first is measured again; the last value is recorded."""
    point, record = LinkPoint(delay_s=0.05), dict[str, Any](backend="shaky")
    Linked(point, cast("Laid", Shaky(4)), record).measure("before")
    assert record["before"]["delay_s"] == 0.0505
    message = (
        "the link between client and broker was not as planned after the load: delay 51.5 ms"
        " instead of 50 ms;"
    )
    with pytest.raises(HostError, match=message):
        Linked(point, cast("Laid", Shaky(100)), record).measure("after")
    assert record["after"]["delay_s"] == 0.0515


def test_a_share_of_losses_is_known_from_enough_packets() -> None:
    """With few packets chance alone may exceed the tolerance."""
    assert statistically_known(0.05, 10_000)
    assert not statistically_known(0.05, 1_000)
    assert statistically_known(0.0, 1)


def test_a_namespace_is_known_by_its_oldest_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by the lowest pid, which may belong to a short command."""
    ages = {Path("/proc/590"): 9_000, Path("/proc/20000"): 100, Path("/proc/20001"): 100}
    monkeypatch.setattr(Path, "glob", lambda _path, _pattern: iter(ages))
    monkeypatch.setattr(ends, "_namespaces_of", lambda _process: ("net:[1]", "pid:[1]"))
    monkeypatch.setattr(ends, "_started", lambda process: ages[process])
    assert ends._namespaces() == {("net:[1]", "pid:[1]"): 20_000}
