"""What every host promises; a new kind of host joins the list."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from mqperf_toys import host as toy_host

from mqperf.errors import HostError
from mqperf.hosts import HERE, HOSTS, Host, Process, Watched, lookup

KINDS = (HOSTS[HERE], toy_host.KIND)
PYTHON = os.path.realpath(sys.executable)
"""One that hosts of a laboratory see as well, wherever the environment of these tests is."""


@pytest.fixture(params=KINDS, ids=lambda kind: kind.name)
def host(request: pytest.FixtureRequest) -> Iterator[Host]:
    """One host of every kind."""
    with request.param.reached() as reached:
        assert reached.name == request.param.name
        yield reached


def mode(host: Host, path: Path) -> str:
    return host.run(["stat", "--format=%a", str(path)], timeout_s=30).stdout.strip()


def there(host: Host, path: Path) -> bool:
    return host.run(["test", "-e", str(path)], timeout_s=30).returncode == 0


def children(host: Host, pid: int) -> list[Path]:
    parents = host.run(["sh", "-c", "cat /proc/[0-9]*/stat"], timeout_s=30).stdout.splitlines()
    fields = [line.partition(" (") for line in parents]
    return [
        Path("/proc", own)
        for own, _, rest in fields
        if rest.rpartition(") ")[2].split()[1] == str(pid)
    ]


def test_a_scratch_folder_is_private_and_vanishes(host: Host) -> None:
    """Nobody else looks into it, and nothing of it is left."""
    with host.scratch("contract") as folder:
        host.write(folder / "deep" / "file", "secret")
        assert mode(host, folder) == "700"
        assert mode(host, folder / "deep") == "700"
    assert not there(host, folder)


def test_files_are_written_and_read_back(host: Host) -> None:
    """For their owner only, from any position on, with the mode that was asked for."""
    with host.scratch("contract") as folder:
        host.write(folder / "file", "größer")
        assert host.read(folder / "file") == "größer".encode()
        assert host.read(folder / "file", start=6) == b"er"
        assert host.size(folder / "file") == len("größer".encode())
        assert mode(host, folder / "file") == "600"
        host.write(folder / "cookie", "x", mode=0o400)
        assert host.names(folder) == {"file", "cookie"}
        assert mode(host, folder / "cookie") == "400"


def test_what_a_host_refuses_is_told_with_the_file(host: Host) -> None:
    """A file that is not there, a folder that is, a file in the place of a folder."""
    with host.scratch("contract") as folder:
        host.make(folder / "made")
        host.write(folder / "file", "")
        for refused, words in (
            (lambda: host.read(folder / "absent"), "absent: cannot read it: No such file"),
            (lambda: host.size(folder / "absent"), "absent: cannot read it: No such file"),
            (lambda: host.make(folder / "made"), "made: cannot make it: File exists"),
            (
                lambda: host.write(folder / "file" / "below", ""),
                "file: cannot write it: File exists",
            ),
        ):
            with pytest.raises(HostError, match=words):
                refused()


def test_a_process_writes_its_log_and_ends_with_its_children(host: Host) -> None:
    """Also a frozen one; its memory is known as long as it lives."""
    with host.scratch("contract") as folder:
        argv = ["/bin/sh", "-c", "echo up; sleep 60 & wait"]
        process = host.start("sleeper", argv, log=folder / "log", env={})
        assert isinstance(process, Process)
        assert isinstance(process, Watched)
        while b"up" not in host.read(folder / "log"):
            assert process.alive
        assert process.rss_bytes
        [child] = children(host, process.pid)
        process.suspend()
        while not process.frozen:
            assert process.alive
        process.resume()
        while process.frozen:
            assert process.alive
        process.suspend()
        process.stop(grace_s=0.1)
        assert not process.alive
        assert process.rss_bytes is None
        assert not there(host, child)


def test_a_command_gives_its_output_or_runs_out_of_time(host: Host) -> None:
    """Exit code, both outputs; and an error that names the command."""
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    done = host.run([PYTHON, "-c", code], timeout_s=30)
    assert (done.returncode, done.stdout, done.stderr) == (3, "out\n", "err\n")
    with pytest.raises(HostError, match=r"did not end within 0\.1 s"):
        host.run(["sleep", "60"], timeout_s=0.1)


def test_ports_are_free_and_facts_are_told(host: Host) -> None:
    """Consecutive ports that nobody has, and the label by which tables know the host."""
    with host.ports(3) as ports:
        assert [port - ports[0] for port in ports] == [0, 1, 2]
    assert all(there(host, Path(f"/proc/{pid}")) for pid in host.own_processes().values())
    facts = host.facts()
    assert facts["label"] == host.name
    assert facts["cores"]


def test_room_is_checked_and_leaves_nothing(host: Host) -> None:
    """A folder that is gone has none."""
    with host.scratch("contract") as folder:
        host.check_room(folder)
        assert not host.run(["ls", "-A", str(folder)], timeout_s=30).stdout
        with pytest.raises(HostError):
            host.check_room(Path(folder, "absent"))


def test_who_listens_is_found_by_its_program(host: Host) -> None:
    """On a port of an address of the host, under the label that is given; nobody else is."""
    code = "import socket, time; server = socket.create_server(('127.0.0.1', 0));"
    code += "print(server.getsockname()[1], flush=True); time.sleep(600)"
    with host.scratch("contract") as folder:
        process = host.start("server", [PYTHON, "-c", code], log=folder / "log")
        while not (said := host.read(folder / "log")).endswith(b"\n"):
            assert process.alive
        port, program = int(said), Path(PYTHON).name
        found = host.listener("us", "127.0.0.1", port, program)
        assert isinstance(found, Watched)
        assert (found.label, found.pid, found.alive) == ("us", process.pid, True)
        assert not found.frozen
        assert host.listener("us", "127.0.0.1", port, "beam.smp") is None
        assert host.listener("us", "192.0.2.1", port, program) is None
        process.stop(1)
        assert not found.alive


def test_an_unknown_kind_lists_the_known_ones() -> None:
    """A registry has no default."""
    with pytest.raises(HostError, match="no kind of host 'cloud'; known: local"):
        lookup("cloud")
