"""How a program that uses oslo.messaging is started: its variables, and where it connects."""

import re
from collections.abc import Sequence
from pathlib import Path

from mqperf.hosts.software import plain_variables
from mqperf.lab.load.launcher import Endpoint, LoadJob
from mqperf.lab.load.oslo import drivers
from mqperf.plan.load import Kind


def variables(control: Path, path: Sequence[Path]) -> dict[str, str]:
    """All variables of a process: nothing of the caller's reaches the measured program."""
    return plain_variables(path) | {
        "HOME": str(control),
        "OSLO_LOCK_PATH": str(control),
        # names are looked up while connecting only; the green resolver costs 0.1 s to import
        "EVENTLET_NO_GREENDNS": "yes",
    }


def config_files(job: LoadJob, kind: Kind) -> dict[str, str]:
    """The oslo.config file of a role, in which ``$`` would begin the name of another option.

    Beside it is who signs certificates, if TLS is spoken.  Transport URLs hold passwords, so they
    never become arguments.
    """
    endpoint: Endpoint = getattr(job.access, kind)
    trusted = {f"{kind}.pem": endpoint.authority} if endpoint.authority else {}
    lines = ["[DEFAULT]", f"transport_url = {drivers.transport_url(endpoint)}"]
    for section, values in drivers.options(job.case, job.access, job.address).items():
        lines += [f"[{section}]", *(f"{key} = {value}" for key, value in values.items())]
        lines += [f"ssl_ca_file = {job.control / name}" for name in trusted]
    return {f"{kind}.conf": "\n".join(lines).replace("$", "$$") + "\n", **trusted}


def topic(run_id: str) -> str:
    """The name of a run as a topic, without dots: those may divide topic and server."""
    return re.sub(r"[^A-Za-z0-9_-]", "-", run_id)
