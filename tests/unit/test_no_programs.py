"""Tests of ./noxw -s quick cannot start programs or reach other machines."""

import os
import socket
import subprocess
from collections.abc import Callable

import no_programs
import pytest

from mqperf.base import processes


def connected(address: tuple[str, int]) -> None:
    with socket.socket() as connection:
        connection.settimeout(10)
        connection.connect(address)


STARTS = {
    "by Python": lambda: subprocess.run(["true"], check=True),
    "by a shell": lambda: os.system("true"),  # noqa: S605
    "by a guardian": lambda: processes.run(["true"], timeout_s=60),
    "elsewhere": lambda: connected(("192.0.2.1", 9)),
}


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
def test_a_test_without_the_mark_starts_nothing(start: Callable[[], object]) -> None:
    """Programs and connections to other machines fail the test."""
    with pytest.raises(pytest.fail.Exception, match=no_programs.MARK):
        start()


@pytest.mark.starts_programs
def test_a_test_with_the_mark_starts_programs() -> None:
    """With the mark programs run; the guardian left behind does not help other tests."""
    assert processes.run(["echo", "one"], timeout_s=60).stdout == "one\n"


def test_a_guardian_of_others_starts_nothing_either() -> None:
    """Whether or not an earlier test left a guardian."""
    with pytest.raises(pytest.fail.Exception, match=no_programs.MARK):
        processes.run(["true"], timeout_s=60)


def test_this_machine_is_no_other() -> None:
    """Connections to a server of the test succeed."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        connected(server.getsockname())
