"""The other packages of mqperf's repository, and the names that each of them adds."""

from collections.abc import Mapping
from importlib.util import find_spec

from mqperf.base.errors import InstallError

PROJECTS = ("completion", "new", "plans", "quick", "schema")
"""Commands of the package ``mqperf-projects``."""

BRINGS: Mapping[str, tuple[str, ...]] = {
    "mqperf-openstack": (
        *("compute-nodes", "rpc-chain", ".conf", "server-load"),
        *(f"simulator-{release}" for release in ("2024.1", "2025.1", "2026.1")),
        *(f"{action}-at-step" for action in ("black-hole", "disconnect", "freeze", "kill", "stop")),
    ),
    **{f"mqperf-{name}": (name,) for name in ("atop", "flame", "kafka", "nats", "zeromq")},
    "mqperf-activemq": (
        *("activemq", "activemq-leveldb", "artemis", "artemis-ha", "jolokia"),
        *("artemis-core", "openwire", "stomp"),
    ),
    "mqperf-amqp-0-9-1": (
        *("amqp-0-9-1", "publish", "priorities"),
        *("declarations", "declare", "requests", "request"),
    ),
    "mqperf-amqp-1-0": ("amqp-1.0",),
    "mqperf-command": ("command", "script"),
    "mqperf-routers": ("qpid-dispatch", "amqp-management", "mqperf topology"),
    "mqperf-links": (
        *("tun-relay", "partition", "disconnect", "black-hole", "impair"),
        *("cut-connections", "link-grid"),
    ),
    "mqperf-capacity": ("quotas", "capacity", "mqperf predict"),
    "mqperf-laboratory": ("laboratory", "sites", "mqperf laboratory"),
    "mqperf-sites": ("rabbitmq-sites",),
    "mqperf-hosts": ("mqperf hosts", "mqperf doctor", "hosts.ipynb"),
    "mqperf-diagnosis": ("waits", "mqperf why"),
    "mqperf-projects": tuple(f"mqperf {name}" for name in PROJECTS),
    "mqperf-imported": ("mqperf import",),
    "mqperf-traffic": ("traffic", "mqperf capture"),
    "mqperf-trend": ("mqperf trend",),
    "mqperf-bundle": ("mqperf bundle", "mqperf verify", "mqperf reproduce"),
    "mqperf-brokers": ("mqperf brokers",),
    "mqperf-gate": ("mqperf gate",),
    "mqperf-notebook": (
        *("mqperf stop", "mqperf.start", "mqperf.attach", "mqperf.stop", "mqperf.explore"),
    ),
    "mqperf-rabbitmq": (
        *("metrics", "prometheus", "metadata_store"),
        *("preset", "config", "advanced", "environment", "policy"),
    ),
    "mqperf-numbered": ("backlog", "cycles"),
    "mqperf-streams": ("rabbitmq-stream", "streams"),
    "mqperf-software": ("mqperf software", "home", "erlang"),
}
"""By package: names in plans and records, file suffixes, and commands that it adds."""

BROUGHT = {name: package for package, names in BRINGS.items() for name in names}
"""The package that adds each of these names."""

BESIDE_RUNS = ("atop",)
"""Probes of these packages that record into a folder beside the runs."""


def package_of(name: str) -> str:
    """Return the package to install for a name in a record."""
    return BROUGHT.get(name, "the package that adds it")


def lacking(name: str) -> str | None:
    """Return the package that adds this name if it is not installed, else None."""
    package = BROUGHT.get(name)
    return package if package and find_spec(package.replace("-", "_")) is None else None


EXTRAS = {"notebook": ("papermill", "ipykernel", "nbconvert"), "report": ("sphinx", "furo")}
"""Libraries of each optional extra of mqperf; a machine that measures needs none of them."""


def need(extra: str, instead: str = "") -> None:
    """Raise ``InstallError`` with the pip command, unless the libraries of an extra are installed.

    ``instead`` begins with "or" and names an alternative.
    """
    if absent := [library for library in EXTRAS[extra] if find_spec(library) is None]:
        advice = f"pip install 'mqperf[{extra}]' {instead}".rstrip()
        raise InstallError(f"{', '.join(absent)}: not installed: {advice}")
