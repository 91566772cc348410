"""What ./noxw -s quick runs is quick and alone, as its tests can start nothing."""

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
    """No program, and no connection to another machine."""
    with pytest.raises(pytest.fail.Exception, match=no_programs.MARK):
        start()


@pytest.mark.starts_programs
def test_one_with_the_mark_may() -> None:
    """It says so, and is left alone; a guardian that it leaves is no way round for the others."""
    assert processes.run(["echo", "one"], timeout_s=60).stdout == "one\n"


def test_a_guardian_of_others_starts_nothing_either() -> None:
    """As a test before left one, or not."""
    with pytest.raises(pytest.fail.Exception, match=no_programs.MARK):
        processes.run(["true"], timeout_s=60)


def test_this_machine_is_no_other() -> None:
    """A server of the test's own is reached."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        connected(server.getsockname())
