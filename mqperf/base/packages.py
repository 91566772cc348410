"""The packages of mqperf's repository beside mqperf itself, and what they bring."""

from collections.abc import Mapping
from importlib.util import find_spec

from mqperf.base.errors import InstallError

PROJECTS = ("completion", "new", "plans", "quick", "schema")
"""Commands of who begins."""

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
"""By package: what plans and records call so, files of that suffix, and commands."""

BROUGHT = {name: package for package, names in BRINGS.items() for name in names}
"""The package that brings what is called so."""

BESIDE_RUNS = ("atop",)
"""Those of them that record into a folder beside the runs."""


def package_of(name: str) -> str:
    """The package to install for what records call so."""
    return BROUGHT.get(name, "the package that adds it")


def lacking(name: str) -> str | None:
    """The package that brings what is called so, if it is not installed."""
    package = BROUGHT.get(name)
    return package if package and find_spec(package.replace("-", "_")) is None else None


EXTRAS = {"notebook": ("papermill", "ipykernel", "nbconvert"), "report": ("sphinx", "furo")}
"""What each extra of mqperf is needed for, of which a machine that measures may have none."""


def need(extra: str, instead: str = "") -> None:
    """Raise ``InstallError`` with what to type, unless the libraries of an extra are installed.

    ``instead`` begins with "or": it says how to do without them.
    """
    if absent := [library for library in EXTRAS[extra] if find_spec(library) is None]:
        words = f"pip install 'mqperf[{extra}]' {instead}".rstrip()
        raise InstallError(f"{', '.join(absent)}: not installed: {words}")
