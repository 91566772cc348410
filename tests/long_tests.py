"""The long test files, which take turns by the day: parts of about equal CPU time.

A test of a small part of mqperf that needs many seconds of CPU belongs here, with all of its file.
"""

PARTS = (
    (
        "tests/integration/test_amqp_1_0_and_proton.py",
        "tests/integration/test_broken_brokers.py",
        "tests/integration/test_dead_letters.py",
        "tests/integration/test_gates.py",
        "tests/integration/test_oslo_options.py",
        "tests/integration/test_plans_in_turns.py",
        "tests/integration/test_several_hosts.py",
        "tests/integration/test_wheels.py",
        "tests/unit/test_capacity.py",
        "tests/unit/test_deciding_runs.py",
        "tests/unit/test_searched.py",
        "tests/unit/test_turns.py",
    ),
    (
        "tests/integration/test_decisions.py",
        "tests/integration/test_ended_sweeps.py",
        "tests/integration/test_flame_probe.py",
        "tests/integration/test_hosts_command.py",
        "tests/integration/test_sites.py",
        "tests/integration/test_systems.py",
        "tests/integration/test_transfers_to_brokers.py",
        "tests/integration/test_urgent_messages.py",
        "tests/integration/test_versions_of_artemis.py",
        "tests/unit/test_background.py",
        "tests/unit/test_imported_peers.py",
        "tests/unit/test_toys.py",
        "tests/unit/test_trend.py",
    ),
    (
        "tests/integration/test_creations.py",
        "tests/integration/test_hosts_prepare.py",
        "tests/integration/test_kafka.py",
        "tests/integration/test_lost_hosts.py",
        "tests/integration/test_nats.py",
        "tests/integration/test_relayed_links.py",
        "tests/integration/test_searches.py",
        "tests/integration/test_secrets_at_run_time.py",
        "tests/integration/test_stressor_disturbed.py",
        "tests/integration/test_versions.py",
        "tests/unit/test_bundle.py",
        "tests/unit/test_choices.py",
        "tests/unit/test_examples.py",
    ),
    (
        "tests/integration/test_artemis_protocols.py",
        "tests/integration/test_jupyterlab.py",
        "tests/integration/test_linked_runs.py",
        "tests/integration/test_nodes_of_a_cloud.py",
        "tests/integration/test_quick_runs.py",
        "tests/integration/test_requests.py",
        "tests/integration/test_stressor.py",
        "tests/integration/test_watched_by_atop.py",
        "tests/unit/test_causes.py",
        "tests/unit/test_command_generator.py",
        "tests/unit/test_hostile_places.py",
        "tests/unit/test_link_grid.py",
        "tests/unit/test_trend_steps.py",
    ),
    (
        "tests/integration/test_ansible.py",
        "tests/integration/test_bundles.py",
        "tests/integration/test_free_settings.py",
        "tests/integration/test_membership.py",
        "tests/integration/test_router_networks.py",
        "tests/integration/test_routers.py",
        "tests/integration/test_runs_by_former_releases.py",
        "tests/integration/test_stairs.py",
        "tests/integration/test_streams_and_pika.py",
        "tests/integration/test_stressor_tls.py",
        "tests/integration/test_warm_up_beside.py",
        "tests/unit/test_mixes.py",
        "tests/unit/test_published_hostile.py",
    ),
)


def left_out(day: str) -> frozenset[str]:
    """The files of other days than the one of this number; none for ``all``."""
    if day == "all":
        return frozenset()
    turn = int(day) % len(PARTS)
    return frozenset(file for part in (*PARTS[:turn], *PARTS[turn + 1 :]) for file in part)
