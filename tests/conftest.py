"""What every test may ask for: RabbitMQ, a browser, and the whole run with nothing left out."""

import os
import shutil
from pathlib import Path

import pytest

RABBITMQ_SERVER = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
BROWSERS = ("chromium", "google-chrome")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--complete",
        action="store_true",
        default=os.environ.get("CI") == "true",
        help="fail, instead of skipping, tests that need RabbitMQ where there is none",
    )


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("needs_rabbitmq") and not RABBITMQ_SERVER.exists():
        reason = f"RabbitMQ is not installed: {RABBITMQ_SERVER} is missing"
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
