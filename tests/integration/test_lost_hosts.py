"""Hosts that are lost or left: waiting calls are notified, and nothing stays on the hosts."""

import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import agents
import held_hosts
import psutil
import pytest
from agents import processes_left
from held_hosts import start_processes
from patience import eventually, words_of

from mqperf.base.errors import HostLost
from mqperf.hosts.place import Place
from mqperf.hosts.remote import RemoteHost, connected
from mqperf_laboratory.hosts import Laboratory


def test_nothing_is_left_after_the_block(five_hosts: Laboratory, places: tuple[Place, ...]) -> None:
    """Neither processes, including daemons, nor folders."""
    with connected(places) as hosts:
        start_processes(hosts)
        assert len(processes_left(five_hosts)) > 5 * len(places)
    assert eventually(lambda: not processes_left(five_hosts))
    with connected(places[:1]) as [remote]:
        assert eventually(partial(only_its_own_folder, remote))  # a reaper ends after its owner


def only_its_own_folder(remote: RemoteHost) -> bool:
    """Whether the host has no private folder except that of its present agent."""
    words = ["sh", "-c", "ls -d /tmp/mqperf-agent-* /tmp/.mqperf-agent-* /tmp/mqperf-[0-9]*/*"]
    places = remote.run(words, timeout_s=30).stdout.split()
    return len(places) == 1 and places[0].startswith("/tmp/mqperf-agent-")  # noqa: S108


def agent_processes(lab: Laboratory, name: str) -> list[psutil.Process]:
    """The agent and its guardian: Pythons whose program was sent over the connection."""
    pythons = [p for p in lab.processes(name)[1:] if words_of(p)[1:4] == ["-I", "-S", "-c"]]
    return sorted(pythons, key=lambda p: (p.create_time(), p.pid))


def agent_of(lab: Laboratory, name: str) -> psutil.Process:
    guardian, agent = agent_processes(lab, name)
    assert agent.ppid() == guardian.pid
    return agent


def guardian_of(lab: Laboratory, name: str) -> psutil.Process:
    return agent_processes(lab, name)[0]


def test_a_host_whose_agent_is_killed_is_named(
    five_hosts: Laboratory, places: tuple[Place, ...]
) -> None:
    """Every later call fails; the other hosts go on, and nothing is left on this host."""
    with connected(places[:2]) as [first, second]:
        start_processes([first, second])
        agent_of(five_hosts, "h1").kill()
        with pytest.raises(HostLost, match=r"^h1 was lost: its agent was killed"):
            first.run(["sleep", "60"], timeout_s=60)
        with pytest.raises(HostLost, match=r"^h1 was lost"):
            first.check()
        second.check()
        assert second.run(["hostname"], timeout_s=30).stdout == "h2\n"
        assert eventually(lambda: not five_hosts.processes("h1")[1:])


def test_a_host_with_an_invalid_answer_is_named(
    places: tuple[Place, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A waiting call fails at once instead of waiting for an answer that never comes."""
    noise = r"Operations.names = lambda self, path: os.write(1, b'Segmentation fault\n')"
    agents.append_code(monkeypatch, "operations", noise)
    with (
        connected(places[:1]) as [remote],
        pytest.raises(HostLost, match=r"^h1 was lost: it sent what no agent sends"),
    ):
        remote.names(Path("/"))


def test_a_host_whose_cable_is_cut_is_named(
    five_hosts: Laboratory, places: tuple[Place, ...]
) -> None:
    """A waiting command fails too, and the lease of the host ends what ran there."""
    with connected(places[:2], lease_s=2) as [first, second]:
        start_processes([first, second])
        five_hosts.cut("h1")
        try:
            with pytest.raises(
                HostLost, match=r"^h1 was lost: no answer for 3 s: its link was cut"
            ):
                first.run(["sleep", "60"], timeout_s=60)
            assert eventually(lambda: sshd_only(five_hosts, "h1"))
            second.check()
        finally:
            five_hosts.mend("h1")
    with connected(places[:1]) as [again]:
        assert again.run(["hostname"], timeout_s=30).stdout == "h1\n"


def sshd_only(lab: Laboratory, name: str) -> bool:
    """Whether only sshd runs: a session of sshd may still wait for its cable."""
    first, *others = lab.processes(name)
    assert "sshd" in first.name()
    return all(is_sshd(process) for process in others)


def is_sshd(process: psutil.Process) -> bool:
    """Whether the process is sshd, or has just ended."""
    try:
        return "sshd" in process.name()
    except psutil.NoSuchProcess:
        return True


def kill_controller(controller: subprocess.Popen[str], _lab: Laboratory) -> None:
    controller.send_signal(signal.SIGKILL)


def stop_controller(controller: subprocess.Popen[str], _lab: Laboratory) -> None:
    controller.send_signal(signal.SIGSTOP)


def kill_ssh(controller: subprocess.Popen[str], _lab: Laboratory) -> None:
    for process in ssh_of(controller):
        process.kill()


def kill_agents(_controller: subprocess.Popen[str], lab: Laboratory) -> None:
    for name in lab.names:
        agent_of(lab, name).kill()


def stop_agents(_controller: subprocess.Popen[str], lab: Laboratory) -> None:
    for name in lab.names:
        agent_of(lab, name).suspend()


def kill_guardians(_controller: subprocess.Popen[str], lab: Laboratory) -> None:
    for name in lab.names:
        guardian_of(lab, name).kill()


def cut_all(_controller: subprocess.Popen[str], lab: Laboratory) -> None:
    for name in lab.names:
        lab.cut(name)


def kill_anyone(controller: subprocess.Popen[str], lab: Laboratory) -> None:
    """Kill a random process on every host (guardians and reapers too), then the controller."""
    for name in lab.names:
        chosen = [process for process in lab.processes(name) if not is_sshd(process)]
        with suppress(psutil.NoSuchProcess):  # it has just ended
            random.choice(chosen).kill()
    controller.send_signal(signal.SIGKILL)


FAULTS = (
    kill_anyone,
    kill_controller,
    stop_controller,
    kill_ssh,
    kill_agents,
    stop_agents,
    kill_guardians,
    cut_all,
)


def ssh_of(controller: subprocess.Popen[str]) -> list[psutil.Process]:
    below = psutil.Process(controller.pid).children(recursive=True)
    return [process for process in below if process.name() == "ssh"]


def test_nothing_is_left_whatever_is_killed(
    five_hosts: Laboratory, places: tuple[Place, ...], pytestconfig: pytest.Config
) -> None:
    """Controller, ssh, agents and their guardians killed or stopped, cables cut, at random moments.

    After the lease none of 25 processes is left on any of five hosts, and no folder.
    """
    random.seed(20_261_121)
    for number in range(int(pytestconfig.getoption("--kills"))):
        fault = FAULTS[number % len(FAULTS)]
        moment_s = random.choice([0, random.random() * 2])
        argv = [sys.executable, held_hosts.__file__, str(five_hosts.inventory)]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as controller:
            try:
                assert controller.stdout is not None
                if number != len(FAULTS) + 1:  # in that round the fault hits while it connects
                    assert controller.stdout.readline() == "up\n"
                    assert len(processes_left(five_hosts)) >= 25
                time.sleep(moment_s)
                fault(controller, five_hosts)
                gone = eventually(lambda: all(sshd_only(five_hosts, n) for n in five_hosts.names))
                assert gone, f"kill {number} ({fault.__name__}): {processes_left(five_hosts)}"
            finally:
                controller.kill()
                for name in five_hosts.names if fault is cut_all else ():
                    five_hosts.mend(name)
    with connected(places) as hosts:
        for remote in hosts:  # a process that was hit while connecting may appear only now
            assert eventually(partial(only_its_own_folder, remote))
