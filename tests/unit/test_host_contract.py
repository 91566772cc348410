"""The contract of all kinds of hosts; add a new kind to KINDS."""

import ipaddress
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from mqperf_toys import host as toy_host
from patience import eventually

from mqperf.base.errors import HostError
from mqperf.hosts import HERE, HOSTS, Host, Process, Watched, lookup
from mqperf_laboratory.hosts.kind import KIND as LABORATORY

pytestmark = pytest.mark.starts_programs

KINDS = (HOSTS[HERE], toy_host.KIND)
SERVER = """
import socket, sys, time
server = socket.create_server((sys.argv[1], int(sys.argv[2])))
print(server.getsockname()[1], flush=True)
time.sleep(600)
"""
PYTHON = os.path.realpath(sys.executable)
"""The real path of Python, which laboratory hosts see wherever the test environment is."""


@pytest.fixture(params=KINDS, ids=lambda kind: kind.name)
def host(request: pytest.FixtureRequest) -> Iterator[Host]:
    """One host of every kind."""
    with request.param.reached() as reached:
        [only] = reached.every
        assert only.name == request.param.name
        yield only


def mode(host: Host, path: Path) -> str:
    return host.run(["stat", "--format=%a", str(path)], timeout_s=30).stdout.strip()


def exists(host: Host, path: Path) -> bool:
    return host.run(["test", "-e", str(path)], timeout_s=30).returncode == 0


@contextmanager
def listening(host: Host, address: str, port: int = 0) -> Iterator[tuple[Process, int]]:
    """A server on the host, and its port."""
    with host.scratch("contract") as folder:
        argv = [PYTHON, "-c", SERVER, address, str(port)]
        process = host.start("server", argv, log=folder / "log")
        try:
            assert eventually(lambda: host.read(folder / "log").endswith(b"\n"))
            yield process, int(host.read(folder / "log"))
        finally:
            process.stop(1)


def children(host: Host, pid: int) -> list[Path]:
    parents = host.run(["sh", "-c", "cat /proc/[0-9]*/stat"], timeout_s=30).stdout.splitlines()
    fields = [line.partition(" (") for line in parents]
    return [
        Path("/proc", number)
        for number, _, rest in fields
        if rest.rpartition(") ")[2].split()[1] == str(pid)
    ]


def test_a_scratch_folder_is_private_and_vanishes(host: Host) -> None:
    """Only its owner may enter it, and it is removed at the end."""
    with host.scratch("contract") as folder:
        host.write(folder / "deep" / "file", "secret")
        assert mode(host, folder) == "700"
        assert mode(host, folder / "deep") == "700"
    assert not exists(host, folder)


def test_files_are_written_and_read_back(host: Host) -> None:
    """Files are private by default, take a given mode, and are read from any offset."""
    with host.scratch("contract") as folder:
        host.write(folder / "file", "größer")
        assert host.read(folder / "file") == "größer".encode()
        assert host.read(folder / "file", start=6) == b"er"
        assert host.size(folder / "file") == len("größer".encode())
        assert mode(host, folder / "file") == "600"
        host.write(folder / "cookie", "x", mode=0o400)
        assert host.names(folder) == {"file", "cookie"}
        assert mode(host, folder / "cookie") == "400"


def test_errors_name_the_file(host: Host) -> None:
    """Errors name the file: absent, existing folder, or file in place of a folder."""
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
    """Even a frozen process is stopped with its children; it has memory until then."""
    with host.scratch("contract") as folder:
        argv = ["/bin/sh", "-c", "echo up; sleep 60 & wait"]
        process = host.start("sleeper", argv, log=folder / "log", env={})
        assert isinstance(process, Process)
        assert isinstance(process, Watched)
        assert eventually(lambda: b"up" in host.read(folder / "log"))
        assert process.rss_bytes
        [child] = children(host, process.pid)
        process.suspend()
        assert eventually(lambda: process.frozen)
        process.resume()
        assert eventually(lambda: not process.frozen)
        process.suspend()
        process.stop(grace_s=0.1)
        assert not process.alive
        assert process.rss_bytes is None
        assert not exists(host, child)


def test_a_command_gives_its_output_or_runs_out_of_time(host: Host) -> None:
    """The result has the exit code and both outputs; a timeout names the command."""
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    done = host.run([PYTHON, "-c", code], timeout_s=30)
    assert (done.returncode, done.stdout, done.stderr) == (3, "out\n", "err\n")
    with pytest.raises(HostError, match=r"did not end within 0\.1 s"):
        host.run(["sleep", "60"], timeout_s=0.1)


def test_ports_are_free_and_facts_are_complete(host: Host) -> None:
    """Ports are free and consecutive; facts have the label of the host in tables."""
    with host.ports(3) as ports:
        assert [port - ports[0] for port in ports] == [0, 1, 2]
    assert all(exists(host, Path(f"/proc/{pid}")) for pid in host.own_processes().values())
    facts = host.facts()
    assert facts["label"] == host.name
    assert facts["cores"]


def test_free_space_is_checked(host: Host) -> None:
    """The check of free space leaves no file, and fails for a missing folder."""
    with host.scratch("contract") as folder:
        host.check_room(folder)
        assert not host.run(["ls", "-A", str(folder)], timeout_s=30).stdout
        with pytest.raises(HostError):
            host.check_room(Path(folder, "absent"))


def test_a_listener_is_found_by_its_program(host: Host) -> None:
    """The listener on an address and port is found if its program matches."""
    program = Path(PYTHON).name
    with listening(host, "127.0.0.1") as (process, port):
        watched = host.listener("us", "127.0.0.1", port, program)
        assert isinstance(watched, Watched)
        assert (watched.label, watched.pid, watched.alive) == ("us", process.pid, True)
        assert not watched.frozen
        assert host.listener("us", "127.0.0.1", port, "beam.smp") is None
        assert host.listener("us", "192.0.2.1", port, program) is None
        process.stop(1)
        assert not watched.alive


def test_servers_are_reached_at_its_address(host: Host) -> None:
    """The address of a host is an IP address to which this machine can connect."""
    assert str(ipaddress.ip_address(host.address)) == host.address
    with listening(host, host.address) as (_, port):
        socket.create_connection((host.address, port), timeout=30).close()


def test_ports_are_the_same_on_several_hosts_or_refused(host: Host) -> None:
    """Requested ports are refused if they are reserved or a server listens on them."""
    refusal = "no 3 consecutive free ports from"
    with (
        host.ports(3) as block,
        pytest.raises(HostError, match=f"{refusal} {block[0]} on"),
        host.ports(3, first=block[0]),
    ):
        pass
    with host.ports(3, first=block[0]) as again:
        assert again == block
    with (
        listening(host, host.address, block[1]),
        pytest.raises(HostError, match=refusal),
        host.ports(3, first=block[0]),
    ):
        pass


def test_programs_are_found_on_its_path(host: Host) -> None:
    """Programs have their path, and None if they are missing."""
    paths = host.which(["sh", "no-such-program"])
    assert paths["no-such-program"] is None
    assert paths["sh"] is not None
    assert str(Path(paths["sh"]).parent) in host.path.split(":")


def test_its_platform_is_that_of_its_python(host: Host) -> None:
    """The platform has the version, machine and C library of the host's Python."""
    code = "import platform as p; print(p.python_version(), p.machine(), *p.libc_ver())"
    words = host.run([host.python, "-c", code], timeout_s=30).stdout.split()
    assert [host.platform.python, host.platform.machine, *host.platform.libc.split()] == words


def test_files_are_copied_once(host: Host, tmp_path: Path) -> None:
    """Files and folders are copied under their own names, and only once."""
    (tmp_path / "folder" / "deep").mkdir(parents=True)
    (tmp_path / "folder" / "deep" / "module.py").write_text("größer")
    (tmp_path / "program.py").write_text("print('it runs')")
    folder, file = host.copied(tmp_path / "folder"), host.copied(tmp_path / "program.py")
    assert (folder.name, file.name) == ("folder", "program.py")
    assert host.read(folder / "deep" / "module.py") == "größer".encode()
    assert host.run([host.python, str(file)], timeout_s=30).stdout == "it runs\n"
    assert host.copied(tmp_path / "folder") == folder
    assert host.copied(tmp_path / "program.py") == file


def test_output_is_fetched(host: Host, tmp_path: Path) -> None:
    """Output is fetched into a local folder, which is created, any number of times."""
    home = tmp_path / "not yet" / "home"
    with host.output(home) as output:
        for words in ("first", "second"):
            script = f"mkdir -p deep; printf {words} > deep/said"
            argv = ["sh", "-c", f'cd "$0" && {script}', str(output.folder)]
            assert host.run(argv, timeout_s=30).returncode == 0
            output.fetch()
            assert (home / "deep" / "said").read_text() == words
    assert (home / "deep" / "said").read_text() == "second"


def test_its_clock_is_known_within_a_bound(host: Host) -> None:
    """The offset is within its bound: these hosts share the clock of this machine."""
    clock = host.clock()
    rounding_s = 1e-6
    assert abs(clock.offset_s) <= clock.bound_s + rounding_s


def test_a_host_that_answers_passes_its_check(host: Host) -> None:
    """The check of a responding host can be repeated without an error."""
    for _ in range(3):
        host.check()


def test_unknown_hosts_list_the_known_kinds() -> None:
    """The error lists the kinds: the text is neither a kind nor the path of an inventory."""
    text = "hosts 'cloud': there is no such inventory, and no such kind; known: local, laboratory"
    with pytest.raises(HostError, match=text):
        lookup("cloud")


def test_hosts_are_a_kind_or_those_of_an_inventory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name of a kind wins over a file; an invalid inventory is an error when used."""
    monkeypatch.chdir(tmp_path)
    for name in ("local", "laboratory", "hosts.yaml"):
        Path(name).write_text("broker:\n")
    assert [lookup(name) for name in ("local", "laboratory")] == [HOSTS["local"], LABORATORY]
    kind = lookup("hosts.yaml")
    assert (kind.name, kind.title) == ("hosts.yaml", "the hosts of hosts.yaml")
    with pytest.raises(HostError, match=r"hosts\.yaml: no group 'client'"), kind.reached():
        pass
