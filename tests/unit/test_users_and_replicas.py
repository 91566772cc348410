"""Settings of systems other than RabbitMQ: users, replicas and versions."""

import pytest

from mqperf.base.errors import SystemFault
from mqperf.lab.load import Access, Endpoint
from mqperf.lab.load.oslo.drivers import options
from mqperf.lab.systems import SYSTEMS
from mqperf.plan import Case


@pytest.mark.parametrize("system", ["artemis", "artemis-ha"])
def test_users_are_refused_by_systems_without_them(system: str) -> None:
    """The error names the setting; systems with users accept it."""
    with pytest.raises(SystemFault, match=rf"{system}: settings\.users: .* without users: leave"):
        SYSTEMS[system].check({"users": True})
    SYSTEMS[system].check({"users": False})
    SYSTEMS["activemq"].check({"users": True, "metrics": True})
    SYSTEMS["activemq-leveldb"].check({"users": True})


def test_versions_that_are_not_known_are_refused() -> None:
    """The error lists the known ones; a number is invalid, as it loses its last digit."""
    known = SYSTEMS["artemis"]
    with pytest.raises(SystemFault, match=r"version: .* 2\.4 .* known: 2\.56\.0, 2\.33\.0"):
        known.check({"version": "2.4"})
    with pytest.raises(SystemFault, match=r'in quotes: "2\.33"'):
        known.check({"version": 2.33})
    known.check({"version": "2.33"})
    with pytest.raises(SystemFault, match=r"artemis-ha: settings\.version: unknown key"):
        SYSTEMS["artemis-ha"].check({"version": "2.56"})


def test_replicas_are_nodes() -> None:
    """Actions of plans can name them, and no others."""
    assert SYSTEMS["zeromq"].labels("direct", {}) == ("Redis",)
    assert SYSTEMS["zeromq"].labels("direct", {"replicas": 2}) == (
        "Redis",
        "Replica 1",
        "Replica 2",
    )
    with pytest.raises(SystemFault, match=r"zeromq: settings\.replicas"):
        SYSTEMS["zeromq"].check({"replicas": -1})


@pytest.mark.parametrize(("user", "mechanism"), [("", "ANONYMOUS"), ("mqperf", "PLAIN")])
def test_the_driver_logs_in_as_the_user(user: str, mechanism: str) -> None:
    """If the broker has users it does, else anonymously."""
    case = Case(
        system="activemq",
        topology="single",
        queues="classic",
        test_case="rpc-call",
        green_threads=1,
        duration_s=1,
    )
    endpoint = Endpoint("amqp-1.0", ("127.0.0.1:5672",), user, user)
    sections = options(case, Access(endpoint, endpoint), "127.0.0.1")
    assert sections["oslo_messaging_amqp"]["sasl_mechanisms"] == mechanism
