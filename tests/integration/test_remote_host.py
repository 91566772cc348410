"""Hosts over SSH fulfil the contract of all hosts, and report each problem in one line."""

import dataclasses
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import agents
import pytest
from test_host_contract import (  # noqa: F401 (the contract of all hosts, for the host below)
    test_a_command_gives_its_output_or_runs_out_of_time,
    test_a_host_that_answers_passes_its_check,
    test_a_listener_is_found_by_its_program,
    test_a_process_writes_its_log_and_ends_with_its_children,
    test_a_scratch_folder_is_private_and_vanishes,
    test_errors_name_the_file,
    test_files_are_copied_once,
    test_files_are_written_and_read_back,
    test_free_space_is_checked,
    test_its_clock_is_known_within_a_bound,
    test_its_platform_is_that_of_its_python,
    test_output_is_fetched,
    test_ports_are_free_and_facts_are_complete,
    test_ports_are_the_same_on_several_hosts_or_refused,
    test_programs_are_found_on_its_path,
    test_servers_are_reached_at_its_address,
)

from mqperf.base.errors import HostError
from mqperf.hosts import Host, common_ports
from mqperf.hosts.place import Place
from mqperf.hosts.remote import RemoteHost, attempted, connected
from mqperf.onhost.machine import ports
from mqperf_laboratory.hosts import Laboratory

OLD_PYTHON = """\
#!/bin/sh
# Answers as a Python 3.9 does when it is asked whether it is new enough, and for its version.
case $2 in
    *version_info*) exit 1 ;;
    *) echo 3.9.2 ;;
esac
"""
TALKING_PYTHON = """\
#!/bin/sh
# A Python on a host whose login scripts print something.
echo "Welcome; this line is no message of an agent."
exec python3 "$@"
"""


@pytest.fixture
def host(places: tuple[Place, ...]) -> Iterator[RemoteHost]:
    with connected(places[:1]) as [remote]:
        typed: Host = remote
        assert typed.name == "h1"
        yield remote


def test_every_host_answers_for_itself(places: tuple[Place, ...]) -> None:
    """Names have the order of the inventory; facts are those of the host, not the controller."""
    with connected(places) as hosts:
        assert [remote.name for remote in hosts] == [place.name for place in places]
        for remote in hosts:
            assert remote.run(["hostname"], timeout_s=30).stdout == f"{remote.name}\n"
            cards = remote.facts()["network_cards"]
            assert isinstance(cards, list)
            assert [card["name"] for card in cards if isinstance(card, dict)] == ["eth0"]
            assert remote.room_bytes()
            assert remote.which(["sh", "no-such-program"])["no-such-program"] is None


def test_a_copy_lasts_as_long_as_the_connection(places: tuple[Place, ...], tmp_path: Path) -> None:
    """A copy keeps its content; the next connection copies anew, and no copy remains."""
    (tmp_path / "packages").mkdir()
    module = tmp_path / "packages" / "module.py"
    module.write_text("first")
    with connected(places[:1]) as [remote]:
        first = remote.copied(module.parent)
        module.write_text("second")
        assert remote.copied(module.parent) == first
        assert remote.read(first / "module.py") == b"first"
    with connected(places[:1]) as [remote]:
        second = remote.copied(module.parent)
        assert remote.read(second / "module.py") == b"second"
        assert remote.run(["test", "-e", str(first)], timeout_s=30).returncode == 1


def test_hosts_have_free_ports_in_common(places: tuple[Place, ...]) -> None:
    """They are the same on each host; blocks in use on one of them are skipped."""
    with connected(places[:3]) as [first, second, third], ExitStack() as taken:
        for start in range(ports.FIRST, ports.LAST, 2 * ports.BLOCK):
            taken.enter_context(second.ports(1, first=start))
        with common_ports([first, second, third, first], 3) as block:
            assert (block[0] - ports.FIRST) // ports.BLOCK % 2 == 1
            for remote in (first, second, third):
                with pytest.raises(HostError, match="no 3"), remote.ports(3, first=block[0]):
                    pass
        for remote in (first, second, third):
            with remote.ports(3, first=block[0]) as again:
                assert again == block


def test_hosts_without_ports_in_common_are_reported(places: tuple[Place, ...]) -> None:
    """The error is that of the host, after some attempts; ports on the others are released."""
    with connected(places[:2]) as [first, second], ExitStack() as taken:
        for start in range(ports.FIRST, ports.LAST, ports.BLOCK):
            taken.enter_context(second.ports(1, first=start))
        with (
            pytest.raises(HostError, match="no 3 consecutive free ports from"),
            common_ports([first, second], 3),
        ):
            pass
        for start in range(ports.FIRST, ports.LAST, ports.BLOCK):
            taken.enter_context(first.ports(1, first=start))


def test_an_unprivileged_user_is_enough(places: tuple[Place, ...]) -> None:
    """A user who is not root, with the host's default Python."""
    place = dataclasses.replace(places[0], user="measurer", python=None)
    with connected([place]) as [remote], remote.scratch("own") as folder:
        process = remote.start("sleeper", ["sleep", "60"], log=folder / "log")
        assert process.rss_bytes
        process.stop(1)
        assert remote.run(["id", "-un"], timeout_s=30).stdout == "measurer\n"


def test_servers_listen_at_the_address_of_ssh_or_of_the_inventory(
    five_hosts: Laboratory, places: tuple[Place, ...]
) -> None:
    """The measured traffic may use another network than ssh."""
    other = dataclasses.replace(places[0], listens="127.0.0.1")
    with connected(places[:1]) as [first], connected([other]) as [second]:
        assert (first.address, second.address) == (five_hosts.address("h1"), "127.0.0.1")


def test_output_of_a_login_script_is_skipped(places: tuple[Place, ...]) -> None:
    """Lines before the first message of the agent are skipped."""
    talker = "/run/python_that_talks"
    with connected(places[:1]) as [remote]:
        remote.write(Path(talker), TALKING_PYTHON, 0o755)
    with connected([dataclasses.replace(places[0], python=talker)]) as [remote]:
        assert remote.run(["hostname"], timeout_s=30).stdout == "h1\n"


def test_the_ssh_configuration_of_the_user_applies(
    five_hosts: Laboratory, places: tuple[Place, ...], tmp_path: Path
) -> None:
    """Names, keys and a jump host come from ssh_config, not from the inventory."""
    config = tmp_path / "config"
    known_hosts = five_hosts.folder / "known_hosts"
    common = f"User root\nIdentityFile {places[0].key}\nUserKnownHostsFile {known_hosts}\n"
    first, second = (five_hosts.address(name) for name in ("h1", "h2"))
    inner = f"Host inner\nHostName {second}\nProxyJump gate\n"
    config.write_text(f"Host gate\nHostName {first}\n{inner}Host *\n{common}")
    place = Place("inner", "inner", python=places[0].python, ssh_args=("-F", str(config)))
    with connected([place]) as [remote]:
        assert remote.run(["hostname"], timeout_s=30).stdout == "h2\n"
        connection = remote.run(["sh", "-c", "echo $SSH_CONNECTION"], timeout_s=30).stdout
        assert connection.split()[0] == first


def test_folders_are_pushed_and_fetched(host: RemoteHost, tmp_path: Path) -> None:
    """With modes, empty files and folders, and files of several pieces."""
    here = tmp_path / "here"
    (here / "deep" / "empty").mkdir(parents=True)
    (here / "nothing").touch()
    (here / "program").write_text("#!/bin/sh\necho it runs\n")
    (here / "program").chmod(0o700)
    (here / "deep" / "large").write_bytes(os.urandom(3_500_000))
    (here / "exact").write_bytes(bytes(1 << 20))
    with host.scratch("push") as there:
        host.push(here, there / "copy")
        assert host.run([str(there / "copy" / "program")], timeout_s=30).stdout == "it runs\n"
        assert host.names(there / "copy") == {"deep", "nothing", "program", "exact"}
        host.fetch(there / "copy", tmp_path / "back")
        with pytest.raises(HostError, match=r"h1: .*absent: there is no such folder"):
            host.fetch(there / "absent", tmp_path / "absent")
    files = {file.relative_to(here) for file in here.rglob("*")}
    assert {file.relative_to(tmp_path / "back") for file in (tmp_path / "back").rglob("*")} == files
    for name in filter(lambda path: (here / path).is_file(), files):
        assert (tmp_path / "back" / name).read_bytes() == (here / name).read_bytes()


def test_a_name_that_leads_elsewhere_is_refused(
    places: tuple[Place, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a host answers, nothing is written outside the folder."""
    lie = "Operations.listing = lambda self, path: [['../../stolen', 3]]"
    agents.append_code(monkeypatch, "operations", lie)
    with (
        connected(places[:1]) as [remote],
        pytest.raises(HostError, match=r"'\.\./\.\./stolen' is no name of a file"),
    ):
        remote.fetch(Path("/etc"), tmp_path / "in")
    assert not (tmp_path.parent / "stolen").exists()


@pytest.mark.parametrize("ahead_s", [0.5, -0.5])
def test_a_planted_offset_is_found(
    places: tuple[Place, ...], monkeypatch: pytest.MonkeyPatch, ahead_s: float
) -> None:
    """On this host only, and within the reported bound."""
    with connected(places[:1]) as [sound]:
        assert abs(sound.clock().offset_s) <= sound.clock().bound_s + 0.001
    shift = f"real = time.time\ntime.time = lambda: real() + {ahead_s}"
    agents.append_code(monkeypatch, "agent", shift)
    with connected(places[:1]) as [remote]:
        offset = remote.clock()
        assert abs(offset.offset_s - ahead_s) <= offset.bound_s
        assert offset.bound_s < abs(ahead_s)  # otherwise it could be zero
        kernel = remote.facts()["kernel_clock"]
        assert isinstance(kernel, dict)
        assert set(kernel) == {
            "synchronised",
            "max_error_s",
            "estimated_error_s",
            "frequency_ppm",
        }


def with_old_python(place: Place, _folder: Path) -> Place:
    """A host whose Python claims to be version 3.9."""
    python = "/run/python_of_yesterday"
    with connected([place]) as [remote]:
        remote.write(Path(python), OLD_PYTHON, 0o755)
    return dataclasses.replace(place, python=python)


REFUSALS: dict[str, tuple[Callable[[Place, Path], Place], str]] = {
    "unknown name": (
        lambda place, _: dataclasses.replace(place, address="no-such-host.invalid"),
        "h1: its name is unknown: correct it",
    ),
    "nothing listens": (
        lambda place, _: dataclasses.replace(place, port=23),
        "h1: nothing listens on its ssh port: start sshd there",
    ),
    "nobody there": (
        lambda place, _: dataclasses.replace(
            place, address=place.address.rpartition(".")[0] + ".99"
        ),
        "h1: it cannot be reached: start it",
    ),
    "key refused": (
        lambda place, folder: dataclasses.replace(place, key=new_key(folder)),
        "h1: it refused our key: put a public key",
    ),
    "host key changed": (
        lambda place, folder: with_known_host(place, folder, new_key(folder)),
        r"h1: its host key has changed: .* ssh-keygen -R 198\.18\.",
    ),
    "host key unknown": (
        lambda place, folder: with_known_host(place, folder, None),
        "h1: its host key is not known: connect once",
    ),
    "no Python": (
        lambda place, _: dataclasses.replace(place, python="/nowhere/python3"),
        r"h1: it has no Python: install Python 3\.11 or later",
    ),
    "Python too old": (
        with_old_python,
        r"h1: its Python is too old \(3\.9\.2\): install Python 3\.11",
    ),
    "no folder": (
        lambda place, _: dataclasses.replace(place, folder="/proc/nothing"),
        "h1: /proc/nothing: No such file or directory: make room there, or name another folder",
    ),
}


def new_key(folder: Path) -> str:
    key = folder / "key"
    argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)]
    subprocess.run(argv, check=True)
    return str(key)


def with_known_host(place: Place, folder: Path, key: str | None) -> Place:
    file = folder / "known_hosts"
    text = "" if key is None else f"{place.address} {Path(key + '.pub').read_text()}"
    file.write_text(text)
    return dataclasses.replace(place, ssh_args=("-F", "none", "-o", f"UserKnownHostsFile={file}"))


@pytest.mark.parametrize(("broken", "words"), REFUSALS.values(), ids=REFUSALS)
def test_a_refusal_is_one_line(
    places: tuple[Place, ...],
    tmp_path: Path,
    broken: Callable[[Place, Path], Place],
    words: str,
) -> None:
    """It has host, reason and remedy; the other hosts are connected all the same."""
    with attempted([broken(places[0], tmp_path), places[1]]) as [refused, sound]:
        assert isinstance(sound, RemoteHost)
        with pytest.raises(HostError, match=words) as caught:
            raise refused if isinstance(refused, HostError) else AssertionError
        assert "\n" not in str(caught.value)


def test_all_hosts_that_are_missing_are_named(places: tuple[Place, ...]) -> None:
    """In one error, with one line each."""
    broken = [dataclasses.replace(place, port=23) for place in places[:2]]
    with pytest.raises(HostError, match=r"^h1: nothing .*\nh2: nothing .*$"):
        connected(broken).__enter__()


def test_a_full_disk_is_reported(places: tuple[Place, ...], host: RemoteHost) -> None:
    """At the connection and when a file is written, with the host and the file."""
    script = "mkdir /run/full && mount -t tmpfs -o size=64k tmpfs /run/full"
    assert host.run(["sh", "-c", script], timeout_s=30).returncode == 0
    try:
        with pytest.raises(HostError, match="h1: /run/full/log: cannot write it: No space left"):
            host.write(Path("/run/full/log"), "x" * 100_000)
        with attempted([dataclasses.replace(places[0], folder="/run/full")]) as [refused]:
            assert isinstance(refused, HostError)
            assert "h1: " in str(refused)
            assert "No space left on device: make room there" in str(refused)
    finally:
        host.run(["umount", "--lazy", "/run/full"], timeout_s=30)


def test_a_folder_that_runs_no_programs_is_reported(
    places: tuple[Place, ...], host: RemoteHost
) -> None:
    """Copied software could not run there, so the connection fails."""
    script = "mkdir /run/noexec && mount -t tmpfs -o noexec tmpfs /run/noexec"
    assert host.run(["sh", "-c", script], timeout_s=30).returncode == 0
    with attempted([dataclasses.replace(places[0], folder="/run/noexec")]) as [refused]:
        assert "h1: /run/noexec: it is mounted noexec, so that no program" in str(refused)
        assert str(refused).endswith("or name another folder (ansible_remote_tmp)")
