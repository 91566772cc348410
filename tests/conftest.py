"""What every test may ask for: brokers, a browser, and the whole run with nothing left out."""

import os
import shutil
from pathlib import Path

import pytest

BROWSERS = ("chromium", "google-chrome")
NEEDS = {
    "needs_rabbitmq": ("/usr/lib/rabbitmq/bin/rabbitmq-server",),
    "needs_redis": ("redis-server",),
    "needs_java": ("java", "mvn"),
}
"""Programs by marker."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--complete",
        action="store_true",
        default=os.environ.get("CI") == "true",
        help="fail, instead of skipping, tests that need a broker where there is none",
    )


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where tests run side by side, a file stays in one process, and so does all of RabbitMQ."""
    for item in items:
        group = "rabbitmq" if item.get_closest_marker("needs_rabbitmq") else item.path.name
        item.add_marker(pytest.mark.xdist_group(group))


def pytest_runtest_setup(item: pytest.Item) -> None:
    missing = [
        program
        for marker, programs in NEEDS.items()
        for program in programs
        if item.get_closest_marker(marker) and not shutil.which(program)
    ]
    if missing:
        reason = f"not installed: {', '.join(missing)}"
        if item.config.getoption("--complete"):
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    if item.get_closest_marker("needs_browser") and not any(map(shutil.which, BROWSERS)):
        pytest.skip(f"no browser: none of {', '.join(BROWSERS)} is on the PATH")


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the repository."""
    return Path(__file__).parent.parent


@pytest.fixture(scope="session")
def browser() -> str:
    """The headless browser's program, for tests marked needs_browser."""
    return next(filter(None, map(shutil.which, BROWSERS)))
