"""The options of oslo.messaging's drivers, as each release of the library lists them.

Run ``python tests/driver_options.py`` after renewing the locks: it writes the table that
mqperf reads, ``mqperf/plan/driver_options.json``.
"""

import json
from pathlib import Path

from mqperf.hosts import LocalHost
from mqperf.hosts.software import ALONE
from mqperf.lab.load.oslo.library import library
from mqperf.lab.load.oslo.releases import RELEASES, Release
from mqperf.plan import driver

SECTIONS = {
    "rabbitmq": "oslo_messaging_rabbit",
    "zeromq": "oslo_messaging_zmq",
    "amqp": "oslo_messaging_amqp",
    "kafka": "oslo_messaging_kafka",
}

RESERVED = {
    "processname": "each process has a name of its own, or they would share queues",
    "ssl_cafile": "private brokers of Kafka speak no TLS",
    "ssl_client": "private brokers of Kafka speak no TLS",
    "ssl": "the system's setting tls says whether TLS is spoken",
    "sasl": "private brokers know no users",
    "security_protocol": "private brokers know no users",
    "consumer_group": "each run has a group of its own, which misses no message",
    "rpc_zmq_host": "servers are reached where they run",
    "rpc_zmq_bind_address": "servers are reached where they run",
    "rpc_zmq_matchmaker": "servers find each other by the system's Redis",
    "use_pub_sub": "it needs a proxy, which is not started",
    "use_router_proxy": "it needs a proxy, which is not started",
}
"""Options, by prefix of the name, that mqperf sets itself -> the reason."""

DECLARES = {
    "rabbit_ha_queues": "mirrored",
    "rabbit_quorum_queue": "quorum",
    "rabbit_transient_quorum_queue": "quorum",
    "rabbit_stream_fanout": "stream",
}
"""The kind of queue that an option declares."""

NEEDS = {
    "rabbit_stream_fanout": ["rabbit_transient_quorum_queue", "rabbit_qos_prefetch_count"],
    "rabbit_quorum_delivery_limit": ["rabbit_quorum_queue"],
    "rabbit_quorum_max_memory_length": ["rabbit_quorum_queue"],
    "rabbit_quorum_max_memory_bytes": ["rabbit_quorum_queue"],
}
"""The other options that an option requires: without them the driver refuses or ignores it."""

LISTING = """
import json, sys
from mqperf.onhost.load.repairs import prepare
prepare(sys.argv[2:])
from oslo_messaging import opts
TYPES = {"Boolean": "boolean", "Integer": "integer", "Port": "integer", "Float": "number"}
found = {}
for option in dict(opts.list_opts())[sys.argv[1]]:
    if option.secret:
        continue
    limits = {name: getattr(option.type, name, None) for name in ("min", "max")}
    default = option.default if option.sample_default is None else option.sample_default
    choices = [*filter(None, getattr(option.type, "choices", None) or ())]
    found[option.dest] = {
        "type": TYPES.get(type(option.type).__name__, "text"),
        "default": default,
        **{name: limit for name, limit in limits.items() if limit is not None},
        **({"choices": choices} if choices else {}),
        "meaning": " ".join((option.help or "").split()),
    }
print(json.dumps(found))
"""


def of_library(release: Release) -> dict[str, object]:
    """The driver options that a release of the library lists, except secrets."""
    host = LocalHost()
    tool = library("The list of options", release, host, release.package)
    argv = [tool.python, *ALONE, "-W", "ignore", "-c", LISTING]
    path = {"PYTHONPATH": ":".join(map(str, tool.path))}
    section = SECTIONS[release.name]
    done = host.run([*argv, section, *release.repairs], env=path, timeout_s=60)
    if done.returncode:
        raise RuntimeError(f"oslo.messaging {release.version}: {done.stderr}")
    options: dict[str, dict[str, object]] = json.loads(done.stdout)
    for name in {"hostname", "rpc_zmq_host"} & options.keys():
        options[name]["default"] = "the host's name"
    for name, option in options.items():
        reasons = (why for begin, why in RESERVED.items() if name.startswith(begin))
        further = (
            ("reserved", next(reasons, None)),
            ("declares", DECLARES.get(name)),
            ("needs", NEEDS.get(name)),
        )
        option |= {key: value for key, value in further if value is not None}
    return {"release": release.version, "section": section, "options": options}


def text() -> str:
    """The table of all releases."""
    table = {name: of_library(RELEASES[name]) for name in SECTIONS}
    return json.dumps(table, indent=1) + "\n"


if __name__ == "__main__":
    Path(driver.__file__).with_name("driver_options.json").write_text(text())
