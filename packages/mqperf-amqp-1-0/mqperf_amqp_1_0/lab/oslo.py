"""The release of oslo.messaging that speaks AMQP 1.0, and the options of its driver."""

from pathlib import Path

from mqperf.lab.load.launcher import Endpoint
from mqperf.lab.load.oslo.releases import Release, Sections
from mqperf.plan import Case


def options(_case: Case, endpoint: Endpoint, _address: str) -> Sections:
    """Return the driver's options: the login, and retries every second without back-off."""
    login = "PLAIN" if endpoint.user else "ANONYMOUS"
    return {"oslo_messaging_amqp": {"sasl_mechanisms": login, "connection_retry_backoff": "1"}}


RELEASE = Release(
    name="amqp",
    version="14.9.3",
    protocol="amqp-1.0",
    scheme="amqp",
    options=options,
    lock=Path(__file__).with_name("locks") / "amqp.txt",
    sdist_sha256="0b7247700f97269aba077bad48fc06d194dd0e9bf3188fd7aa607a8dfa0bebde",
    repairs=tuple(
        f"mqperf_amqp_1_0.onhost.repairs:{name}"
        for name in ("amqp_expiry", "amqp_warnings", "amqp_first_host")
    ),
    libraries=("pyngus", "python-qpid-proton"),
    why="the last series with an AMQP 1.0 driver",
    tools="a C compiler and Python's headers (sudo apt-get install gcc libc6-dev python3-dev)",
)
