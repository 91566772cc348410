"""Environment variables and configuration files of programs that use oslo.messaging."""

import re
from collections.abc import Sequence
from pathlib import Path

from mqperf.hosts.software import plain_variables
from mqperf.lab.load.launcher import Endpoint, LoadJob
from mqperf.lab.load.oslo import drivers
from mqperf.plan.load import Kind


def variables(control: Path, path: Sequence[Path]) -> dict[str, str]:
    """Return the whole environment of a process; no variable of the caller is inherited."""
    return plain_variables(path) | {
        "HOME": str(control),
        "OSLO_LOCK_PATH": str(control),
        # names are resolved only while connecting; importing the green resolver takes 0.1 s
        "EVENTLET_NO_GREENDNS": "yes",
    }


def config_files(job: LoadJob, kind: Kind) -> dict[str, str]:
    """Return the oslo.config file of a role, and with TLS the authority's certificate.

    ``$`` is escaped, since it begins the name of another option.  Transport URLs contain passwords,
    so they are never passed as arguments.
    """
    endpoint: Endpoint = getattr(job.access, kind)
    authority = {f"{kind}.pem": endpoint.authority} if endpoint.authority else {}
    lines = ["[DEFAULT]", f"transport_url = {drivers.transport_url(endpoint)}"]
    for section, values in drivers.options(job.case, job.access, job.address).items():
        lines += [f"[{section}]", *(f"{key} = {value}" for key, value in values.items())]
        lines += [f"ssl_ca_file = {job.control / name}" for name in authority]
    return {f"{kind}.conf": "\n".join(lines).replace("$", "$$") + "\n", **authority}


def topic(run_id: str) -> str:
    """Return the topic of a run: its id without dots, which may separate topic and server."""
    return re.sub(r"[^A-Za-z0-9_-]", "-", run_id)
