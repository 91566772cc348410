"""Secrets while a sweep runs: where they are, who can read them, and that none is left."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from one_rabbitmq import master_of

from mqperf.lab.systems.rabbitmq.private import PrivateCluster
from mqperf.pages.report.build import publish

pytestmark = pytest.mark.needs_rabbitmq

MQPERF = str(Path(sys.executable).with_name("mqperf"))
LOAD = """
test_cases: [publish]
load: {generator: amqp-0-9-1, green_threads: 1, rate_msg_s: 100, duration_s: 3, warmup_s: 1}
"""
EXISTING = (
    "systems: {{rabbitmq: {{topologies: [cmsm], settings: {{nodes: [mq1],"
    " urls: ['amqp://mqperf:${{SECRET}}@{address}']}}}}}}"
)
PRIVATE = "systems: {rabbitmq: {topologies: [single], settings: {tls: true}}}"


class SecretWatch:
    """Where a secret was seen while ``mqperf run`` measured a plan, with its own temporary folder.

    ``files`` maps files with the secret to the modes of the file and of the folders around it;
    ``exposed`` has the pids of processes with the secret in an argument or a variable.
    """

    def __init__(self, folder: Path, plan: str, secret: str, **variables: str) -> None:
        self.scratch, self.secret = folder / "scratch", secret
        self.files: dict[str, list[int]] = {}
        self.exposed: dict[str, set[int]] = {"arguments": set(), "variables": set()}
        self.scratch.mkdir()
        (folder / "plan.yaml").write_text(plan + LOAD)
        argv = [MQPERF, "run", "plan.yaml", "--runs", "runs"]
        env = {**os.environ, "TMPDIR": str(self.scratch), **variables}
        with (
            (folder / "output").open("w") as output,
            subprocess.Popen(argv, env=env, cwd=folder, stdout=output, stderr=output) as run,
        ):
            while run.poll() is None:
                self._processes(psutil.Process(run.pid))
                self._files()
                with suppress(subprocess.TimeoutExpired):
                    run.wait(0.5)
        self.pid, self.code = run.pid, run.returncode

    def _processes(self, run: psutil.Process) -> None:
        itself: object = None
        for process in (run, *run.children(recursive=True)):
            try:
                words, variables = process.cmdline(), process.environ()
            except (psutil.Error, OSError):
                continue
            if (words, variables) == itself:
                continue  # a fork that has not started its program yet
            itself = itself or (words, variables)
            for where, texts in (("arguments", words), ("variables", variables.values())):
                if any(self.secret in text for text in texts):
                    self.exposed[where].add(process.pid)

    def _files(self) -> None:
        # not rglob, for which a folder that vanishes meanwhile is an error
        for folder, _, names in os.walk(self.scratch):
            for path in (Path(folder, name) for name in names):
                try:
                    if path.is_file() and self.secret in path.read_text(errors="replace"):
                        around = [path, *path.parents][: len(path.relative_to(self.scratch).parts)]
                        modes = [stat.S_IMODE(part.stat().st_mode) for part in around]
                        self.files[path.name] = modes
                except OSError:
                    continue


def holding(folder: Path, secret: str) -> Iterator[Path]:
    """The files below a folder that contain the secret."""
    for path in folder.rglob("*"):
        if path.is_file() and secret in path.read_text(errors="replace"):
            yield path


def test_the_password_of_an_existing_cluster(rabbitmq: PrivateCluster, tmp_path: Path) -> None:
    """Only mqperf's own variables and the orders of its processes have it, for the owner only.

    It is in no argument, no variable of another process, no run folder, and in no file of a report.
    """
    broker = master_of(rabbitmq)
    plan = EXISTING.format(address=broker.addresses[0])
    watch = SecretWatch(tmp_path, plan, broker.password, SECRET=broker.password)
    assert watch.code == 0, (tmp_path / "output").read_text()
    assert watch.exposed == {"arguments": set(), "variables": {watch.pid}}
    assert set(watch.files) == {"client-1.orders", "server-1.orders"}
    assert {modes[0] for modes in watch.files.values()} == {0o600}
    assert all(0o700 in modes[1:] for modes in watch.files.values())
    publish(tmp_path / "runs", tmp_path / "report", notebooks=False)
    assert [*holding(tmp_path, broker.password)] == []


def test_the_keys_of_a_private_broker(tmp_path: Path) -> None:
    """They are in a private folder, readable by the owner only, and gone after the sweep."""
    watch = SecretWatch(tmp_path, PRIVATE, "PRIVATE KEY")
    assert watch.code == 0, (tmp_path / "output").read_text()
    assert set(watch.files) == {"authority.key", "nodes.key"}
    assert {modes[0] for modes in watch.files.values()} == {0o600}
    assert all(0o700 in modes[1:] for modes in watch.files.values())
    assert [*holding(tmp_path, "PRIVATE KEY")] == []
    assert watch.exposed == {"arguments": set(), "variables": set()}
