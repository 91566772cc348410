"""Private servers, with small shell programs instead of brokers."""

import signal
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from patience import eventually

from mqperf.base.errors import HostError, HostLost, SystemFault
from mqperf.hosts import HostFolder, LocalHost
from mqperf.lab.systems.evidence import WIDTH
from mqperf.lab.systems.private import Launch, PortTakenError, ServerLauncher, Servers
from mqperf.lab.systems.service import Server, Service

pytestmark = pytest.mark.starts_programs

HOST = LocalHost()
SERVES = "echo serving; exec sleep 60"


def server(folder: Path, script: str, **files: str) -> Server:
    return Server(
        label=folder.name,
        name="somewhere",
        host_folder=HostFolder(HOST, folder),
        argv=("/bin/sh", "-c", script),
        env={},
        ready=("serving",),
        taken=("Address already in use",),
        files=files,
    )


@pytest.fixture
def servers() -> Iterator[Servers]:
    running = Servers("Example", lambda text: text.replace("secret", "***"))
    yield running
    running.stop()


def test_a_server_is_given_when_it_serves(servers: Servers, tmp_path: Path) -> None:
    """Its folder and files are private, and it is a node with memory."""
    servers.start([server(tmp_path / "one", SERVES, conf="x")], 60)
    [node] = servers.nodes
    assert node.label == "one"
    assert node.process is not None
    assert node.process.alive
    assert (tmp_path / "one").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "one" / "conf").stat().st_mode & 0o777 == 0o600
    [facts] = servers.facts()
    assert facts["rss_bytes"]


def test_one_that_never_gets_ready_is_quoted(servers: Servers, tmp_path: Path) -> None:
    """The error has name, timeout and last output, without secrets."""
    with pytest.raises(SystemFault) as fault:
        servers.start([server(tmp_path / "one", "echo trying secret; exec sleep 60")], 5)
    assert str(fault.value) == ("Example's one is not ready after 5 s; its log ends:\n  trying ***")


def test_no_part_of_a_secret_is_quoted(servers: Servers, tmp_path: Path) -> None:
    """Even if a long line is cut within it."""
    line = "x" * (WIDTH - 3) + "secret"
    with pytest.raises(SystemFault, match=r"its log ends:\n  x+\*\*\*$"):
        servers.start([server(tmp_path / "one", f"echo {line}; exec sleep 60")], 5)


def test_one_that_ends_while_starting_is_quoted(servers: Servers, tmp_path: Path) -> None:
    """The error has exit code and last output, without stack traces."""
    script = r"printf 'Exception: no room\n\tat org.example.Main(1)\n'; exit 3"
    with pytest.raises(SystemFault) as fault:
        servers.start([server(tmp_path / "one", script)], 60)
    assert str(fault.value) == (
        "Example's one ended with exit code 3; its log ends:\n  Exception: no room"
    )


def test_some_servers_may_be_enough(servers: Servers, tmp_path: Path) -> None:
    """start() may return with some servers still starting."""
    both = [server(tmp_path / "one", "exec sleep 60"), server(tmp_path / "two", SERVES)]
    servers.start(both, 60, enough=1)
    servers.check()


def test_one_that_is_known_to_die_is_started_again(servers: Servers, tmp_path: Path) -> None:
    """Up to its number of restarts; each is recorded as an incident."""
    dies_once = "[ -e tried ] || { touch tried; exit 1; }; " + SERVES
    servers.start([replace(server(tmp_path / "one", dies_once), restarts=1)], 60)
    assert servers.incidents == ["one died while it started, and was started again"]
    with pytest.raises(SystemFault, match="Example's two ended with exit code 1"):
        servers.start([replace(server(tmp_path / "two", "exit 1"), restarts=2)], 60)
    assert len(servers.incidents) == 3


def test_one_that_is_known_to_hang_is_started_again(servers: Servers, tmp_path: Path) -> None:
    """After its patience; servers without restarts have the whole timeout."""
    hangs_once = "[ -e tried ] || { touch tried; exec sleep 60; }; " + SERVES
    patient = replace(server(tmp_path / "one", hangs_once), restarts=1, patience_s=5)
    servers.start([patient], 60)
    assert servers.incidents == ["one hung while it started, and was started again"]


def test_a_dead_server_is_found(servers: Servers, tmp_path: Path) -> None:
    """The next check finds it."""
    until_end = "echo serving; until [ -e end ]; do sleep 0.05; done; exit 1"
    servers.start([server(tmp_path / "one", until_end)], 60)
    servers.check()
    (tmp_path / "one" / "end").touch()
    process = servers.nodes[0].process
    assert process is not None
    assert eventually(lambda: not process.alive)
    with pytest.raises(SystemFault, match="Example's one ended with exit code 1"):
        servers.check()


def test_helpers_are_ended_though_the_host_of_a_node_is_lost(
    servers: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error is raised after all others have ended."""

    def lost(*_arguments: object) -> None:
        raise HostLost("h1 was lost")

    helper = replace(server(tmp_path / "helper", SERVES), helper=True)
    servers.start([server(tmp_path / "one", SERVES), helper], 60)
    of_node, of_helper = (service.process for service in servers._services)
    with monkeypatch.context() as patch:
        far = SimpleNamespace(signal=lost, stop=lost)
        patch.setattr(servers._services[0], "process", far)
        with pytest.raises(HostLost, match="h1 was lost"):
            servers.stop()
    assert (of_node.alive, of_helper.alive) == (True, False)


def test_evidence_is_collected_once_and_redacted(servers: Servers, tmp_path: Path) -> None:
    """Each run gets the files, and the part of the log since the previous run."""
    servers.start([server(tmp_path / "one", "echo secret; " + SERVES, conf="key: secret")], 60)
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        servers.collect(tmp_path / name)
    assert (tmp_path / "first" / "one-conf").read_text() == "key: ***"
    assert (tmp_path / "first" / "one.log").read_text() == "***\nserving\n"
    assert (tmp_path / "second" / "one.log").read_text() == ""


def test_a_folder_that_cannot_be_made_is_named(servers: Servers, tmp_path: Path) -> None:
    """The error has its path."""
    (tmp_path / "file").touch()
    with pytest.raises(HostError, match=r"file/one: cannot make it: Not a directory"):
        servers.start([server(tmp_path / "file" / "one", SERVES)], 60)


def launching(scripts: Sequence[str]) -> Launch[Path]:
    """A launch whose servers run these scripts in turn."""
    remaining = list(scripts)

    def launch(servers: Servers, _ports: tuple[int, ...], places: Sequence[HostFolder]) -> Path:
        servers.start([server(places[0].folder / "one", remaining.pop(0))], 60)
        return places[0].folder

    return launch


TAKEN = "echo Address already in use; exit 1"


def test_a_taken_port_is_tried_once_more(tmp_path: Path) -> None:
    """The second attempt has other ports and another folder."""
    with ServerLauncher("Example", [HostFolder(HOST, tmp_path)]).launched(
        1, launching([TAKEN, SERVES])
    ) as place:
        assert place == tmp_path / "servers-again"


def test_a_crash_without_a_word_is_no_taken_port(servers: Servers, tmp_path: Path) -> None:
    """Only the log tells of a taken port; a killed server is reported as killed."""
    with pytest.raises(SystemFault, match="killed by signal 11; its log is empty") as fault:
        servers.start([server(tmp_path / "one", "kill -SEGV $$")], 60)
    assert not isinstance(fault.value, PortTakenError)


def test_ports_taken_twice_are_an_error(tmp_path: Path) -> None:
    """There is no third attempt; the error asks to repeat the command."""
    with (
        pytest.raises(PortTakenError, match="a port was taken while Example's one started; repeat"),
        ServerLauncher("Example", [HostFolder(HOST, tmp_path)]).launched(
            1, launching([TAKEN, TAKEN])
        ),
    ):
        pass


def test_one_that_is_ended_on_purpose_is_no_fault(servers: Servers, tmp_path: Path) -> None:
    """After a restart only new output makes it ready."""
    script = f"[ ! -e first ] || until [ -e go ]; do sleep 0.05; done; touch first; {SERVES}"
    servers.start([server(tmp_path / "one", script)], 60)
    [before] = servers.nodes
    service = before.service
    assert isinstance(service, Service)
    service.end(signal.SIGKILL)
    assert eventually(lambda: not service.process.alive)
    servers.check()
    assert not service.serves
    service.start_again()
    assert not service.serves
    (tmp_path / "one" / "go").touch()
    assert eventually(lambda: service.serves)
    [after] = servers.nodes
    assert after.process is not None
    assert after.process.alive
    assert before.process is not None
    assert after.process.pid != before.process.pid
    service.process.stop(grace_s=0)
    with pytest.raises(SystemFault, match="Example's one was killed by signal 15"):
        servers.check()
