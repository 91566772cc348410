"""Agents on hosts: tests can change their code, and can see which processes they leave behind."""

import psutil
import pytest

from mqperf.hosts.remote import payload
from mqperf_laboratory.hosts import Laboratory


def append_code(monkeypatch: pytest.MonkeyPatch, module: str, code: str) -> None:
    """Append code to a module of the agents that connect from now on."""
    files, name = payload.sources(), f"mqperf/onhost/agent/{module}.py"
    changed = files | {name: f"{files[name]}\n{code}\n"}
    monkeypatch.setattr(payload, "sources", lambda: changed)


def processes_left(lab: Laboratory) -> list[psutil.Process]:
    """All processes that run on the hosts, except their sshd."""
    return [process for name in lab.names for process in lab.processes(name)[1:]]
