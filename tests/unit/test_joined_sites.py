"""Plans for two sites, and the shovels or federation between their brokers."""

from pathlib import Path
from typing import Any

import pytest
from factory import Shape, tables
from refused import refused

from mqperf.hosts import HostFolder, LocalHost
from mqperf.lab.load import Endpoint
from mqperf.lab.systems.in_plans import problems_of
from mqperf.lab.systems.service import Server
from mqperf.pages.questions.basis import measured
from mqperf.pages.report.environment import environment
from mqperf.plan import Case
from mqperf.plan.file import parse_plan
from mqperf_brokers.study.cells import cells
from mqperf_sites.lab import joined
from mqperf_sites.lab.sites import SYSTEM, alone

PLAN = """\
systems: {{rabbitmq-sites: {{topologies: [{0}], queues: [{1}], settings: {{{3}}}}}}}
test_cases: [publish]
load: {{generator: {2}, green_threads: 3, duration_s: 5}}
"""
BOTH = [
    Endpoint("amqp-0-9-1", (f"192.0.2.{number}:5672",), "mqperf", "secret", "run")
    for number in (1, 2)
]


def case(topology: str) -> Case:
    text = PLAN.format(topology, "classic", "amqp-0-9-1", "")
    [one] = parse_plan(text, Path("sites.yaml"), problems_of).cases()
    return one


def near(topology: str) -> Any:  # noqa: ANN401 (JSON)
    return joined.near(case(topology), "run", BOTH, 500, "on-confirm")


def far(topology: str) -> Any:  # noqa: ANN401 (JSON)
    return joined.far(case(topology), BOTH, 500, "on-confirm")


def test_a_shovel_moves_each_queue() -> None:
    """From the near broker, to which clients publish, to the far one; all is declared."""
    declared = near("sites-shovel")
    names = [f"run.{number:06d}.0001" for number in (1, 2, 3)]
    assert [queue["name"] for queue in declared["queues"]] == names
    assert [binding["destination"] for binding in declared["bindings"]] == names
    assert {binding["source"] for binding in declared["bindings"]} == {"run.direct"}
    shovels = declared["parameters"]
    assert [shovel["value"]["src-queue"] for shovel in shovels] == names
    value = shovels[0]["value"]
    assert value["src-uri"] == "amqp://mqperf:secret@192.0.2.1:5672/run"
    assert value["dest-uri"] == "amqp://mqperf:secret@192.0.2.2:5672/run"
    assert (value["src-prefetch-count"], value["ack-mode"]) == (500, "on-confirm")
    assert far("sites-shovel") == {}


def test_federation_is_asked_for_by_the_far_broker() -> None:
    """The near broker is its upstream for all queues."""
    assert near("sites-federated")["parameters"] == []
    [upstream] = far("sites-federated")["parameters"]
    assert upstream["component"] == "federation-upstream"
    assert upstream["value"]["uri"] == "amqp://mqperf:secret@192.0.2.1:5672/run"
    [policy] = joined.policies(case("sites-federated")).values()
    assert policy["definition"] == {"federation-upstream": upstream["name"]}


def test_nothing_joins_sites_that_are_reached_directly() -> None:
    """Nothing is declared: servers declare the queues."""
    assert near("sites-direct") == far("sites-direct") == {}
    assert joined.policies(case("sites-direct")) == {}


def test_a_node_looks_for_no_other(tmp_path: Path) -> None:
    """The configuration of cluster formation is removed."""
    conf = "log.console.level = info\ncluster_formation.classic_config.nodes.1 = a\nx = 1\n"
    place = HostFolder(LocalHost(), tmp_path)
    files = {"rabbitmq.conf": conf, "enabled_plugins": "[]."}
    node = Server("Master", "mqperf1@localhost", place, ("true",), {}, (), (), files)
    assert alone(node, "Near").files == {
        "rabbitmq.conf": "log.console.level = info\nx = 1\n",
        "enabled_plugins": "[rabbitmq_shovel,rabbitmq_federation].",
    }


@pytest.mark.parametrize(
    ("topology", "queues", "generator", "setting", "problem"),
    [
        ("single", "classic", "amqp-0-9-1", "", "has no topology 'single'"),
        ("sites-shovel", "quorum", "amqp-0-9-1", "", "has no kind of queue 'quorum'"),
        ("sites-shovel", "classic", "amqp-1.0", "", "cannot talk to"),
        ("sites-shovel", "classic", "amqp-0-9-1", "join_acks: never", "join_acks"),
        ("sites-shovel", "classic", "amqp-0-9-1", "join_prefetch: 0", "join_prefetch"),
    ],
)
def test_an_invalid_plan_is_refused(
    topology: str, queues: str, generator: str, setting: str, problem: str
) -> None:
    """Each error says why."""
    refused(PLAN.format(topology, queues, generator, setting), problem)


def test_the_version_of_two_sites_is_that_of_their_brokers() -> None:
    """Lists of software have the version directly after the name of the system."""
    shape = Shape(system=SYSTEM.name, title=SYSTEM.title, test_cases=("notify",), threads=(10,))
    frames = tables(shape)
    assert "; RabbitMQ 3.10.8 in two Sites; " in measured(frames)
    software = environment(frames["runs"], frames["cpu"])["Software"].rows
    assert ("MQ Server", "RabbitMQ 3.10.8 in two Sites") in software
    runs = frames["runs"].assign(generator="amqp-0-9-1")
    words = {cell.versions.partition(",")[0] for cell in cells({**frames, "runs": runs}, "first")}
    assert words == {"RabbitMQ 3.10.8 on 25.2.3 in two Sites"}
