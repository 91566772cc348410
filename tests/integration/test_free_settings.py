"""Free settings in a real RabbitMQ under a load of declarations."""

from pathlib import Path

import pytest

from mqperf.hosts import HostFolder, LocalHost
from mqperf.lab.runner import Silent, sweep
from mqperf.lab.systems.rabbitmq.private import private_cluster
from mqperf.lab.systems.rabbitmq.settings import parse_settings
from mqperf.plan.file import parse_plan
from mqperf.study import tables

pytestmark = pytest.mark.needs_rabbitmq

HERE = LocalHost()

PLAN = """\
systems:
  rabbitmq:
    topologies: [single]
    queues: [classic, quorum]
    settings:
      config:
        misspelt:
          net_tick: 5
        patient: {net_ticktime: 120}
test_cases: [declare]
load: {generator: declarations, green_threads: 2, bindings: 2, duration_s: 1}
"""

QUERY = """\
{element(2, application:get_env(kernel, net_ticktime)),
 element(2, application:get_env(rabbit, cluster_partition_handling)),
 proplists:get_value(backlog, element(2, application:get_env(rabbit, tcp_listen_options))),
 element(2, application:get_env(kernel, inet_default_connect_options)),
 erlang:system_info(process_limit)}.
"""


def test_what_rabbitmq_refuses_fails_alone(tmp_path: Path) -> None:
    """Its points have the line of the plan and RabbitMQ's message; the others are measured."""
    runs = tmp_path / "runs"
    sweep(parse_plan(PLAN, Path("plan.yaml")), PLAN, runs, Silent())
    all_runs = tables.read(runs)["runs"]
    failed = all_runs[all_runs["status"].eq("failed")]
    assert set(failed["config"]) == {"misspelt"}
    assert set(failed["queues"]) == {"classic", "quorum"}
    for reason in failed["failure"]:
        assert "settings.config.misspelt.net_tick (line 8 of the plan): RabbitMQ" in reason
        assert "refuses it: Conf file attempted to set unknown variable: net_tick" in reason
    done = all_runs[all_runs["status"].eq("done")]
    assert set(done["config"]) == {"patient"}
    assert set(done["queues"]) == {"classic", "quorum"}
    counts = tables.read(runs)["messages"].set_index("run").loc[done["run"]]
    assert (counts["round_trip"] > 0).all()
    assert (counts["errors"] == 0).all()


def test_nodes_have_what_a_preset_and_the_plan_say() -> None:
    """The nodes' configuration, advanced configuration and arguments have the settings."""
    settings = parse_settings(
        {
            "preset": "openstack-2016",
            "config": {"net_ticktime": 20},
            "environment": {"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+P 200000"},
        }
    )
    with (
        HERE.scratch("test-settings") as folder,
        private_cluster(settings, [HostFolder(HERE, folder)], nodes=1) as broker,
    ):
        output = broker._rabbitmqctl.call(broker.nodes[0].name, "eval", QUERY)
    assert "".join(output.split()) == "{20,autoheal,128,[{nodelay,true}],262144}"
