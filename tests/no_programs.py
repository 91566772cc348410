"""The mark ``starts_programs`` is true: a test without it can start none, nor leave the machine.

Python tells an audit hook before it starts a program or connects to anything.  Forks that share
out the reading of runs are no programs.
"""

import ipaddress
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

MARK = "starts_programs"

FOLDERS = ("integration", "notebooks")
"""Whose tests all have the mark."""

STARTS = {"subprocess.Popen", "os.posix_spawn", "os.exec", "os.system", "socket.sendmsg"}
"""Events of a start; by the last one a guardian that runs already is asked for it."""

_here = False
"""Whether the test that runs now has to stay in this process."""


@pytest.hookimpl(tryfirst=True)  # before -m chooses by the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the mark to whole folders, and to whoever needs a program."""
    for item in items:
        folder = item.path.relative_to(Path(__file__).parent).parts[0]
        needs = any(mark.name.startswith("needs_") for mark in item.iter_markers())
        if folder in FOLDERS or needs:
            item.add_marker(MARK)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    """Hold its fixtures to what its marks say; what ends them may start programs for it."""
    with held(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Hold the test itself to it."""
    with held(item):
        return (yield)


@contextmanager
def held(item: pytest.Item) -> Iterator[None]:
    """Hold a test to what its marks say."""
    global _here  # noqa: PLW0603 (a hook stays for as long as Python runs)
    _here = item.get_closest_marker(MARK) is None
    try:
        yield
    finally:
        _here = False


def _told(event: str, args: tuple[object, ...]) -> None:
    if not _here:
        return
    if event in STARTS:
        pytest.fail(f"{event}: a test that starts a program has the mark {MARK}")
    if event == "socket.connect" and _is_far(args[1]):
        pytest.fail(f"connects to {args[1]}: a test stays on its machine, or has the mark {MARK}")


def _is_far(address: object) -> bool:
    """Whether an address is one of another machine; a path of a socket is none."""
    if not isinstance(address, tuple):
        return False
    try:
        return not ipaddress.ip_address(address[0]).is_loopback
    except ValueError:  # a name, which is looked up somewhere
        return bool(address[0] != "localhost")


sys.addaudithook(_told)
