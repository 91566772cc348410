"""The long test files, in three parts of about equal CPU time: each day runs one of them.

A test of a small part of mqperf that needs many seconds of CPU belongs here, with all of its file.
"""

THIRDS = (
    (
        "tests/integration/test_artemis_protocols.py",
        "tests/integration/test_dead_letters.py",
        "tests/integration/test_free_settings.py",
        "tests/integration/test_hosts_prepare.py",
        "tests/integration/test_jupyterlab.py",
        "tests/integration/test_lost_hosts.py",
        "tests/integration/test_oslo_options.py",
        "tests/integration/test_quick_runs.py",
        "tests/integration/test_router_networks.py",
        "tests/integration/test_routers.py",
        "tests/integration/test_secrets_at_run_time.py",
        "tests/integration/test_several_hosts.py",
        "tests/integration/test_sites.py",
        "tests/integration/test_warm_up_beside.py",
        "tests/unit/test_trend.py",
    ),
    (
        "tests/integration/test_ansible.py",
        "tests/integration/test_creations.py",
        "tests/integration/test_linked_runs.py",
        "tests/integration/test_plans_in_turns.py",
        "tests/integration/test_relayed_links.py",
        "tests/integration/test_searches.py",
        "tests/integration/test_streams_and_pika.py",
        "tests/integration/test_stressor.py",
        "tests/integration/test_stressor_disturbed.py",
        "tests/integration/test_stressor_tls.py",
        "tests/integration/test_systems.py",
        "tests/integration/test_transfers_to_brokers.py",
        "tests/integration/test_versions_of_artemis.py",
        "tests/integration/test_watched_by_atop.py",
        "tests/integration/test_wheels.py",
        "tests/unit/test_toys.py",
    ),
    (
        "tests/integration/test_broken_brokers.py",
        "tests/integration/test_bundles.py",
        "tests/integration/test_decisions.py",
        "tests/integration/test_ended_sweeps.py",
        "tests/integration/test_flame_probe.py",
        "tests/integration/test_gates.py",
        "tests/integration/test_hosts_command.py",
        "tests/integration/test_kafka.py",
        "tests/integration/test_membership.py",
        "tests/integration/test_nats.py",
        "tests/integration/test_requests.py",
        "tests/integration/test_runs_by_former_releases.py",
        "tests/integration/test_stairs.py",
        "tests/integration/test_versions.py",
        "tests/unit/test_hostile_places.py",
    ),
)


def left_out(third: str) -> frozenset[str]:
    """The files of the other parts; none for ``all``."""
    numbered = enumerate(THIRDS, 1)
    return frozenset(
        file for number, files in numbered if third not in (str(number), "all") for file in files
    )
