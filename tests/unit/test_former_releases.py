"""Simulators of former releases of OpenStack: their names, and their keys in plans."""

import re
from pathlib import Path

import pytest

from mqperf.base.errors import PlanError
from mqperf.lab.load import LAUNCHERS
from mqperf.lab.load.oslo.releases import RELEASES
from mqperf.lab.systems import SYSTEMS
from mqperf.lab.systems.possible import check_plan
from mqperf.plan.file import parse_plan
from mqperf.plan.load import GENERATORS
from mqperf.study.load import LOAD_READERS

FORMER = ("2024.1", "2025.1", "2026.1")
PLAN = """\
systems: {SYSTEM}
test_cases: [rpc-call]
load: {generator: GENERATOR, green_threads: 1, duration_s: 4, MORE}
"""
RABBITMQ, ZEROMQ = (
    "rabbitmq: {topologies: [cmsm]}",
    "zeromq: {topologies: [direct], queues: [none]}",
)


def check(system: str = RABBITMQ, generator: str = "simulator-2024.1", more: str = "") -> None:
    """Check a plan of such a load."""
    text = PLAN.replace("SYSTEM", system).replace("GENERATOR", generator).replace("MORE", more)
    check_plan(parse_plan(text, Path("plan.yaml")))


@pytest.mark.parametrize("release", FORMER)
def test_each_is_started_and_read_by_its_name(release: str) -> None:
    """For it, RabbitMQ has the driver of its release."""
    name = f"simulator-{release}"
    assert {name} <= GENERATORS.keys() & LAUNCHERS.keys() & LOAD_READERS.keys()
    driver = SYSTEMS["rabbitmq"].every_driver[name]
    assert (driver, RELEASES[driver].protocol) == (f"rabbitmq-{release}", "amqp-0-9-1")
    assert RELEASES[driver].version in LAUNCHERS[name].about(driver)


def test_the_documentation_has_their_versions(root: Path) -> None:
    """The page has them beside the names of generators."""
    text = (root / "docs" / "howto" / "versions.md").read_text()
    rows = re.findall(r"^\| `simulator-(\S+)` \| .* \| (\S+) \|$", text, re.MULTILINE)
    assert dict(rows) == {each: RELEASES[f"rabbitmq-{each}"].version for each in FORMER}


def test_the_simulator_itself_is_the_current_one() -> None:
    """It keeps its driver and its release."""
    assert SYSTEMS["rabbitmq"].every_driver["simulator"] == "rabbitmq"


def test_a_plan_has_the_keys_of_the_simulator() -> None:
    """Rates are among them."""
    check(more="rate_msg_s: 100, ramp_to_msg_s: 400, ramp_steps: 4")


def test_a_plan_has_several_beside_each_other() -> None:
    """The current simulator may be among them; it alone has options of a driver."""
    several = "{simulator-2024.1: {}, simulator: {}}"
    check(generator=several)
    with pytest.raises(PlanError, match="not every generator of the load knows it"):
        check(generator=several, more="driver: {heartbeat_timeout_threshold: 30}")


@pytest.mark.parametrize(
    ("system", "more", "words"),
    [
        (RABBITMQ, "driver: {heartbeat_timeout_threshold: 30}", "no options of a driver"),
        (RABBITMQ, "rate_msg_s: 9, ramp_to_msg_s: 99", "give ramp_steps"),
        (ZEROMQ, "", r"OpenStack 2024\.1 cannot talk to ZeroMQ"),
    ],
)
def test_unsupported_keys_and_systems_are_refused(system: str, more: str, words: str) -> None:
    """Options differ between releases, and other systems have one release each."""
    with pytest.raises(PlanError, match=words):
        check(system, more=more)
