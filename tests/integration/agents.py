"""The agents of hosts: changed by a test, and what is left on hosts when they are gone."""

import psutil
import pytest

from mqperf.hosts.remote import payload
from mqperf_laboratory.hosts import Laboratory


def change(monkeypatch: pytest.MonkeyPatch, module: str, code: str) -> None:
    """Have agents do something else: this code stands at the end of a module of theirs."""
    files, name = payload.sources(), f"mqperf/onhost/agent/{module}.py"
    changed = files | {name: f"{files[name]}\n{code}\n"}
    monkeypatch.setattr(payload, "sources", lambda: changed)


def left(lab: Laboratory) -> list[psutil.Process]:
    """What runs on the hosts besides their sshd."""
    return [process for name in lab.names for process in lab.processes(name)[1:]]
