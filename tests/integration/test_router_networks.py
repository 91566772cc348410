"""Router networks: connected as planned, or refused with an error; nothing is left of them."""

import shutil
import signal
from pathlib import Path

import psutil
import pytest
from crowded_host import CrowdedHost
from killed import nothing_outlives
from listeners import listening
from patience import eventually
from private_routers import ROUTERS, routers

from mqperf.base.errors import SystemFault
from mqperf.hosts import HostFolder, LocalHost, Process
from mqperf_routers.front.checking import check
from mqperf_routers.front.reading import read
from mqperf_routers.lab.system import SYSTEM

pytestmark = pytest.mark.needs_router


@pytest.mark.parametrize(
    ("topology", "size"),
    [("standalone", 1), ("interior", 1), ("line", 3), ("redundant", 4), ("random-5-1", 5)],
)
def test_a_network_is_connected_when_it_is_started(topology: str, size: int) -> None:
    """Taken ports are avoided, all listen on loopback only; afterwards nobody listens or runs.

    Every router knows every other one, by the cheapest path.
    """
    host = CrowdedHost(taken=0)
    with routers(topology, host) as deployment:
        assert len(host.blocks) == 2
        labels = [node.label for node in deployment.nodes]
        assert labels == [f"R{number + 1}" for number in range(size)]
        processes = [psutil.Process(n.process.pid) for n in deployment.nodes if n.process]
        assert {address for process in processes for address in listening(process)} == {"127.0.0.1"}
        deployment.check()
        facts = deployment.facts()
        assert facts["product"] in {"Qpid Dispatch", "Skupper Router"}
        assert "mode: " in str(facts["config"])
        victim = deployment.nodes[-1].process
        assert isinstance(victim, Process)
        victim.signal(signal.SIGKILL)
        assert eventually(lambda: not victim.alive)
        with pytest.raises(SystemFault, match=f"Router's {labels[-1]} was killed by signal 9"):
            deployment.check()
    assert not any(map(psutil.Process.is_running, processes))


@pytest.mark.parametrize(
    ("topology", "edit", "message"),
    [
        ("line", "/^connector/,/^}/d", "R1 does not know R2 after 10 s"),
        ("ring-4", "/id: R4/,$ { /^connector/,/^}/d }", "R1 does not know R4 after 10 s"),
        ("redundant", "s/cost: 2/cost: 3/", r"R1 reaches R[34] at cost \d, not 2 after 10 s"),
    ],
)
def test_routers_that_do_not_connect_are_reported(
    tmp_path: Path, topology: str, edit: str, message: str
) -> None:
    """The error names the routers, a missing or more expensive path, and the end of the log."""
    program = next(filter(None, map(shutil.which, ROUTERS)))
    wrapper = tmp_path / "other-router"
    # the configuration of the real router is changed before it starts
    wrapper.write_text(
        "#!/bin/sh\n"
        f'[ "$1" = --version ] && exec {program} --version\n'
        f'sed -i \'{edit}\' "$2"\nexec {program} "$@"\n'
    )
    wrapper.chmod(0o755)
    settings: dict[str, str | int] = {"program": str(wrapper), "start_timeout_s": 10}
    host = LocalHost()
    with (
        pytest.raises(SystemFault, match=f"{message}; its log ends:"),
        host.scratch("test-routers") as folder,
        SYSTEM.started(settings, topology, [HostFolder(host, folder)]),
    ):
        pass


def test_a_network_that_runs_is_checked(tmp_path: Path) -> None:
    """Each router is connected as in the file, or differently, or does not answer."""
    with routers("line") as deployment:
        ports = [int(node.name.partition(":")[2]) for node in deployment.nodes]
        nodes = "".join(
            f"- {{id: R{number}, host: 127.0.0.1, port: {port}}}\n"
            for number, port in enumerate(ports, 1)
        )
        file = tmp_path / "network.yaml"
        edges = "edges: [{source: R1, target: R2}, {source: R2, target: R3, cost: 1}]\n"
        file.write_text(f"nodes:\n{nodes}{edges}")
        assert [finding.mark for finding in check(read(file))] == ["ok"] * 3
        file.write_text(f"nodes:\n{nodes}{edges.replace('cost: 1', 'cost: 5')}")
        first, *_ = check(read(file))
        assert (first.mark, first.text) == ("FAILED", "R1 reaches R3 at cost 2, not 6")
    last, *_ = check(read(file))
    assert last.text.startswith("R1 does not answer: ")


OWNER = """
    import json, sys
    from mqperf.hosts import LocalHost, HostFolder
    from mqperf.lab.systems import SYSTEMS

    host = LocalHost()
    line = SYSTEMS["qpid-dispatch"].started
    with host.scratch("test") as folder, line({}, "line", [HostFolder(host, folder)]) as running:
        pids = [node.process.pid for node in running.nodes]
        print(json.dumps({"folder": str(folder), "pids": pids}), flush=True)
        sys.stdin.read()
"""


def test_routers_die_with_their_owner() -> None:
    """A SIGKILL of mqperf leaves no router and no folder."""
    assert nothing_outlives(OWNER, processes=3)
