"""Free settings of RabbitMQ: their form in plans, reserved ones, and how nodes get them."""

from pathlib import Path

import pytest
from pydantic import JsonValue

from mqperf.base.errors import PlanError, SystemFault
from mqperf.front.plan_words import words
from mqperf.hosts import HostFolder, LocalHost
from mqperf.lab.systems.in_plans import problems_of
from mqperf.lab.systems.rabbitmq.config import NODES, Cluster, Secrets, port_count
from mqperf.lab.systems.rabbitmq.installation import Installation
from mqperf.lab.systems.rabbitmq.settings import parse_settings
from mqperf.lab.systems.service import Server
from mqperf.lab.systems.settings import SettingsFault
from mqperf.plan import Plan, worded
from mqperf.plan.decide import comparisons
from mqperf.plan.file import parse_plan
from mqperf_rabbitmq.lab import metadata
from mqperf_rabbitmq.lab.presets import PRESETS
from mqperf_rabbitmq.lab.refusals import refused
from mqperf_rabbitmq.lab.reserved import reserved
from mqperf_rabbitmq.lab.settings import FREE

FILE = Path("plan.yaml")

PLACES = [
    ("config", "a", "cluster_partition_handlin"),
    ("preset", "net_ticktime"),
    ("config", "heartbeat"),
]

PLAN = """\
systems:
  rabbitmq:
    topologies: [single]
    settings:
      SETTING
load: {green_threads: 1, duration_s: 1}
"""

UNKNOWN_KEY = """\
2026-11-25 22:09:17.737935+00:00 [error] <0.132.0> You've tried to set cluster_partition_handlin, but there is no setting with that name.
2026-11-25 22:09:17.792780+00:00 [error] <0.132.0>   Did you mean one of these?
2026-11-25 22:09:17.942966+00:00 [error] <0.132.0>     cluster_partition_handling
2026-11-25 22:09:17.947715+00:00 [error] <0.132.0> Error preparing configuration in phase transform_datatypes:
2026-11-25 22:09:17.947730+00:00 [error] <0.132.0>   - Conf file attempted to set unknown variable: cluster_partition_handlin

BOOT FAILED
"""  # noqa: E501 (as RabbitMQ 3.10.8 logs it)
WRONG_VALUE = """\
2026-11-25 22:09:23.296734+00:00 [error] <0.132.0> Error preparing configuration in phase transform_datatypes:
2026-11-25 22:09:23.321422+00:00 [error] <0.132.0>   - Error transforming datatype for: net_ticktime
2026-11-25 22:09:23.321483+00:00 [error] <0.132.0>   - "ten" cannot be converted to a(n) integer
"""  # noqa: E501 (as RabbitMQ 3.10.8 logs it)
NO_TERM = """\
2026-11-25 22:09:33.840483+00:00 [error] <0.132.0> Failed to load advanced configuration file "advanced.config": unknown POSIX error
"""  # noqa: E501 (as RabbitMQ 3.10.8 logs it)


def plan(setting: str) -> Plan:
    return parse_plan(PLAN.replace("SETTING", setting), FILE, problems_of)


def values(setting: str, name: str) -> list[str]:
    """The names of an axis's values, in the order of the points."""
    return [worded(case.settings[name]) for case in plan(setting).cases() if name in case.settings][
        ::3
    ]


def node(**settings: JsonValue) -> Server:
    """The second node of a cluster with these settings; it is not started."""
    host = LocalHost()
    there = {host.name: Installation(Path("/usr/lib/rabbitmq/bin"), "4.0.5")}
    folders = [HostFolder(host, Path("/nowhere"))] * NODES
    parsed = parse_settings(settings)
    ports = range(20_000, 20_000 + port_count())
    return Cluster(folders, ports, parsed, (4, 0, 5), there, Secrets("word", "cake")).node(1)


def test_lists_of_keys_are_an_axis() -> None:
    """Each combination is a value, named after all its settings; a single value is no axis."""
    both = "config: {cluster_partition_handling: [autoheal, ignore], net_ticktime: [5, 10]}"
    assert values(both, "config") == [
        "cluster_partition_handling autoheal, net_ticktime 5",
        "cluster_partition_handling autoheal, net_ticktime 10",
        "cluster_partition_handling ignore, net_ticktime 5",
        "cluster_partition_handling ignore, net_ticktime 10",
    ]
    assert values("policy: {max-length: 5}", "policy") == ["max-length 5"]


def test_named_sets_are_an_axis() -> None:
    """Values are named after the set, and after what varies within it."""
    sets = "config: {none: {}, ticks: {net_ticktime: [5, 10], heartbeat: 9}, long: {heartbeat: 90}}"
    assert values(sets, "config") == [
        "none",
        "ticks, net_ticktime 5",
        "ticks, net_ticktime 10",
        "long",
    ]
    [first, *_, last] = plan(sets).cases()
    assert "config none" in words(first)
    assert parse_settings(last.settings).keys("config") == {"heartbeat": 90}  # type: ignore[attr-defined]


def test_sets_are_compared_with_the_first() -> None:
    """The first set is the reference of a plan that decides, as with all named values."""
    pairs = comparisons(
        plan("config: {quick: {net_ticktime: 5}, slow: {net_ticktime: 99}}").cases()
    )
    assert {pair.names for pair in pairs if pair.axis == "config"} == {("quick", "slow")}


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (
            "config: {listeners.tcp.1: 5672}",
            r"plan.yaml:5: .*\.listeners.*where nodes listen",
        ),
        ("config: {stream.listeners.tcp.1: 5552}", "where nodes listen"),
        ("advanced: {rabbitmq_stream.tcp_listeners: 1}", "where nodes listen"),
        ("config: {default_pass: guessed}", "a secret is not allowed in a plan"),
        ("config: {vm_memory_high_watermark.relative: 0.4}", "say memory_watermark_mb"),
        ("config: {x: {log.console: false}}", r"config\.x\.log\.console: .*what nodes log"),
        ("config: {Net: 1}", "is no key of config: expected such as net_ticktime"),
        ("config: {net_ticktime: [[1]]}", "expected a number, true, false or text"),
        ('config: {heartbeat: "1\\nlisteners.tcp.1 = 1"}', "expected one line of text"),
        ("config: {net_ticktime: []}", "config is empty"),
        ("config: {net_ticktime: [5, 5]}", "listed twice"),
        ("advanced: {net_ticktime: 1}", "expected such as kernel.net_ticktime"),
        ("advanced: {kernel.inet_dist_listen_min: 1}", "where nodes listen"),
        ("environment: {PATH: /tmp}", "begin with RABBITMQ_"),
        ("environment: {RABBITMQ_NODENAME: a}", "names the nodes"),
        ("environment: {RABBITMQ_MNESIA_DIR: /}", "in a folder that goes with it"),
        ("environment: {RABBITMQ_SCHEDULER_BIND_TYPE: db}", "on the same core"),
        ("policy: {ha-mode: all}", r"say queues: \[mirrored\]"),
        ("preset: [none, kolla]", "did you mean 'kolla-ansible'"),
        ("metadata_store: ets", "metadata_store"),
    ],
    ids=str,
)
def test_what_a_plan_cannot_say(setting: str, message: str) -> None:
    """The error has the line and the reason, and comes when the plan is read."""
    with pytest.raises(PlanError, match=message):
        plan(setting)


def test_existing_cluster_has_its_own_settings() -> None:
    """With ``urls`` a plan cannot set them."""
    there: dict[str, JsonValue] = {"nodes": ["a"], "urls": ["amqp://u:p@h"]}
    frees: list[dict[str, JsonValue]] = [
        {"preset": "openstack-2016"},
        {"config": {"heartbeat": 1}},
        {"metadata_store": "khepri"},
    ]
    for free in frees:
        with pytest.raises(SettingsFault, match="is for a cluster that mqperf starts"):
            parse_settings({**there, **free})


def test_nodes_get_what_the_plan_says() -> None:
    """Keys go to their files, terms to their application, arguments after those of mqperf."""
    arguments = "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS"
    plain = node()
    tuned = node(
        config={"heartbeat": 9, "tcp_listen_options.nodelay": True},
        advanced={"kernel.net_ticktime": 7, "rabbit.a": "[{b, c}]", "kernel.x": True},
        environment={arguments: "+S 1", "RABBITMQ_IO_THREAD_POOL_SIZE": 5},
    )
    added = tuned.files["rabbitmq.conf"].removeprefix(plain.files["rabbitmq.conf"])
    assert added == "heartbeat = 9\ntcp_listen_options.nodelay = true\n"
    terms = "[{kernel, [{net_ticktime, 7}, {x, true}]}, {rabbit, [{a, [{b, c}]}]}].\n"
    assert tuned.files["advanced.config"] == terms
    assert tuned.env[arguments] == f"{plain.env[arguments]} +S 1"
    assert tuned.env["RABBITMQ_IO_THREAD_POOL_SIZE"] == "5"
    assert f"{arguments}={tuned.env[arguments]}\n" in tuned.files["environment"]
    assert plain.files.keys() == {"rabbitmq.conf", "enabled_plugins"}


def test_key_of_the_plan_replaces_that_of_preset_and_probe() -> None:
    """No file has a key twice."""
    config = node(
        metrics=True,
        preset="openstack-2016",
        config={"net_ticktime": 60, "collect_statistics_interval": 5000},
    ).files["rabbitmq.conf"]
    keys = [line.partition(" = ")[0] for line in config.splitlines()]
    assert sorted(keys) == sorted({*keys})
    assert "net_ticktime = 60" in config
    assert "collect_statistics_interval = 5000" in config
    assert "cluster_partition_handling = autoheal" in config


def test_queues_have_one_policy() -> None:
    """It is the policy of mirrored queues merged with the plan's, or else the plan's."""
    parsed = parse_settings({"policy": {"max-length": 5}})
    [mirrored] = parsed.policies("mirrored").values()
    assert mirrored["definition"] == {"ha-mode": "all", "max-length": 5}
    [classic] = parsed.policies("classic").values()
    assert classic["definition"] == {"max-length": 5}
    assert not parse_settings({}).policies("classic")


@pytest.mark.parametrize("name", PRESETS)
def test_presets_set_nothing_that_is_reserved(name: str) -> None:
    """A plan could set each key of a preset itself."""
    preset = PRESETS[name]
    keys = [(setting, key) for setting in FREE for key in getattr(preset, setting)]
    assert [key for key in keys if reserved(*key)] == []
    assert keys or name == "none"


@pytest.mark.parametrize(
    ("log", "where", "words"),
    [
        (UNKNOWN_KEY, ("config", "a", "cluster_partition_handlin"), "unknown variable"),
        (WRONG_VALUE, ("preset", "net_ticktime"), "cannot be converted"),
        (NO_TERM, ("advanced",), "no Erlang term"),
    ],
    ids=["unknown key", "wrong value", "no term"],
)
def test_refusal_is_found_in_the_log(log: str, where: tuple[str, ...], words: str) -> None:
    """The key that the log names is found at its place in the settings."""
    places = [
        ("config", "a", "cluster_partition_handlin"),
        ("preset", "net_ticktime"),
        ("config", "heartbeat"),
    ]
    answer = refused(log, places)
    assert answer is not None
    assert answer[0] == where
    assert words in answer[1]


def test_other_ends_are_no_refusal() -> None:
    """A node that ended for another reason is not reported as refusing a setting."""
    assert refused("[error] <0.1.0> - disk is full\nBOOT FAILED\n", [("config", "disk")]) is None


@pytest.mark.parametrize(
    ("store", "version", "why"),
    [("khepri", "3.10.8", "came with 4.0"), ("mnesia", "4.3", "ended with 4.3")],
)
def test_store_that_a_version_lacks(store: str, version: str, why: str) -> None:
    """The error has the reason; versions that have both stores accept both."""
    with pytest.raises(SystemFault, match=why):
        parse_settings({"metadata_store": store}).check_version(version)
    metadata.check(store, "4.0.5")


def test_line_of_a_setting_goes_with_the_plan() -> None:
    """Later errors can name the line."""
    where = ("systems", "rabbitmq", "settings", "config", "heartbeat")
    assert (
        plan("config:\n        heartbeat: 9").place(where)
        == f"{'.'.join(where)} (line 6 of the plan)"
    )
