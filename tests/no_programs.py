"""Enforces the mark ``starts_programs``: other tests start no program and stay on this machine.

Python calls an audit hook before it starts a program or opens a connection.  Forks that read runs
in parallel are not programs.
"""

import ipaddress
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

MARK = "starts_programs"

FOLDERS = ("integration", "notebooks")
"""Folders whose tests all have the mark."""

STARTS = {"subprocess.Popen", "os.posix_spawn", "os.exec", "os.system", "socket.sendmsg"}
"""Audit events of a start; the last one asks a running guardian process to start a program."""

_confined = False
"""Whether the running test must not start programs."""


@pytest.hookimpl(tryfirst=True)  # before -m chooses by the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests of some folders, and all tests that need a program."""
    for item in items:
        folder = item.path.relative_to(Path(__file__).parent).parts[0]
        needs = any(mark.name.startswith("needs_") for mark in item.iter_markers())
        if folder in FOLDERS or needs:
            item.add_marker(MARK)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    """Enforce the marks while fixtures are set up; their teardown may start programs."""
    with enforced(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Enforce the marks while the test runs."""
    with enforced(item):
        return (yield)


@contextmanager
def enforced(item: pytest.Item) -> Iterator[None]:
    """Enforce the marks of a test."""
    global _confined  # noqa: PLW0603 (a hook stays for as long as Python runs)
    _confined = item.get_closest_marker(MARK) is None
    try:
        yield
    finally:
        _confined = False


def _audit(event: str, args: tuple[object, ...]) -> None:
    if not _confined:
        return
    if event in STARTS:
        pytest.fail(f"{event}: a test that starts a program has the mark {MARK}")
    if event == "socket.connect" and _is_far(args[1]):
        pytest.fail(f"connects to {args[1]}: a test stays on its machine, or has the mark {MARK}")


def _is_far(address: object) -> bool:
    """Whether an address is on another machine; the path of a Unix socket is not."""
    if not isinstance(address, tuple):
        return False
    try:
        return not ipaddress.ip_address(address[0]).is_loopback
    except ValueError:  # a name, which is looked up somewhere
        return bool(address[0] != "localhost")


sys.addaudithook(_audit)
