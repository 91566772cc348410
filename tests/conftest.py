"""Options and fixtures of all tests: brokers, a browser, and ``--complete``."""

import gc
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

import long_tests
import no_programs
import pytest
from hypothesis import HealthCheck, settings
from platformdirs import user_cache_path
from typing_extensions import override
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from mqperf.base.errors import HostError
from mqperf.hosts import inventory
from mqperf.hosts.place import Place
from mqperf_laboratory.hosts import Laboratory, laboratory

# None: else jsonschema, used by nbformat, builds 38 unneeded parsers of addresses in a second.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from browsing import Tab

    from mqperf.lab.systems.rabbitmq.private import PrivateCluster

BROWSERS = ("chromium", "google-chrome")
NEEDS = {
    "needs_rabbitmq": ("/usr/lib/rabbitmq/bin/rabbitmq-server",),
    "needs_redis": ("redis-server",),
    "needs_nats": ("nats-server",),
    "needs_atop": ("atop",),
    "needs_java": ("java", "mvn"),
    "needs_debootstrap": ("debootstrap",),
    "needs_fish": ("fish",),
}
"""Programs by marker."""

USES_RABBITMQ = ('usefixtures("shared")', "rabbitmq: PrivateCluster")
"""Texts in files that use the RabbitMQ that is started once per process."""

RABBITMQS = 2
"""Processes that start one: run one after the other, the files that use it take longest."""

WAITING = "tests/integration/"
"""The tests that mostly wait for programs; all others compute."""

settings.register_profile(
    "ours",
    settings.default,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("ours")
"""Examples are slow while other tests use the CPU; the examples of a test share its fixtures."""

RUNNING = ExitStack()
"""The RabbitMQ that this process has started."""

ROUTERS = ("qdrouterd", "skrouterd")
IN_CI = os.environ.get("CI") == "true"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--complete",
        action="store_true",
        default=IN_CI,
        help="fail, instead of skipping, tests that need a broker where there is none",
    )
    parser.addoption(
        "--kills",
        type=int,
        default=10,
        help="how often the test of killed controllers kills; 50 before a release",
    )
    parser.addoption(
        "--day",
        default="all",
        help="the number of a day: of the files in tests/long_tests.py, run only those of its turn",
    )


class Failures:
    """Prints each failure at once: a run that is stopped never reaches pytest's summary."""

    def __init__(self, config: pytest.Config) -> None:
        self.plugins = config.pluginmanager

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        terminal = self.plugins.get_plugin("terminalreporter")
        if report.failed and terminal is not None:
            terminal.write_line(f"\nFAILED {report.nodeid}\n{report.longreprtext}", red=True)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(no_programs)
    if IN_CI and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Failures(config))


@cache
def groups() -> Mapping[str, str]:
    """The RabbitMQ instance of each test file that uses one."""
    root = Path(__file__).parent.parent
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(root.glob(f"{WAITING}*.py"))}
    users = [path for path, text in texts.items() if any(map(text.__contains__, USES_RABBITMQ))]
    return {
        str(path.relative_to(root)): f"RabbitMQ {nth % RABBITMQS}" for nth, path in enumerate(users)
    }


def group(file: str) -> str:
    """The scope of a test that one process runs: its file, or all files that share a RabbitMQ."""
    return groups().get(file, file)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out those of other days; mix files that wait for programs with files that compute.

    Mixed, several processes use the cores from the start; the longest files come early, so that
    none runs alone.
    """
    other_days = long_tests.left_out(config.getoption("--day"))
    if excluded := [item for item in items if file_of(item.nodeid) in other_days]:
        config.hook.pytest_deselected(items=excluded)
        items[:] = [item for item in items if file_of(item.nodeid) not in other_days]
    if not hasattr(config, "workerinput"):
        return
    files = dict.fromkeys(file_of(item.nodeid) for item in items)
    waiting = [file for file in files if file.startswith(WAITING)]
    computing = [file for file in files if file not in waiting]
    place = {file: nth / len(waiting) / 2 for nth, file in enumerate(waiting)}
    place |= {file: nth / len(computing) for nth, file in enumerate(computing)}
    place |= {file: 0.0 for file in files if file in groups()}
    items.sort(key=lambda item: place[file_of(item.nodeid)])


def pytest_collection_finish() -> None:
    """Exclude what was imported and collected from garbage collection.

    Traversing it again and again took a tenth of the CPU time of all tests.
    """
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


def file_of(nodeid: str) -> str:
    """The file of a test, relative to the root of the project."""
    return nodeid.partition("::")[0]


class Scheduler(LoadScopeScheduling):  # type: ignore[misc]  # its base has no types
    """Gives each group of tests to the least loaded process."""

    @override
    def _split_scope(self, nodeid: str) -> str:
        return group(file_of(nodeid))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduler:
    # not --dist=loadgroup: with pytest 9.2, pytest-xdist 3.8 overlooks the groups
    return Scheduler(config, log)


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
    if item.get_closest_marker("needs_router") and not any(map(shutil.which, ROUTERS)):
        # no package provides one: only continuous integration, which builds it, requires it
        (pytest.fail if IN_CI else pytest.skip)(f"no router: none of {', '.join(ROUTERS)}")
    if item.get_closest_marker("needs_perf") and (forbidden := forbids_perf()):
        pytest.skip(forbidden)
    if item.get_closest_marker("needs_browser") and not any(map(shutil.which, BROWSERS)):
        # Ubuntu packages it only as a snap, which a container cannot run
        (pytest.fail if IN_CI else pytest.skip)(f"no browser: none of {', '.join(BROWSERS)}")


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Stop a process's RabbitMQ when its group is done: idle, it uses an eighth of a core."""
    done = nextitem is None or file_of(nextitem.nodeid) not in groups()
    if done and hasattr(item.config, "workerinput"):  # one process alone does not run in groups
        RUNNING.close()


@cache
def forbids_perf() -> str:
    """Why perf cannot profile processes: it is missing, or the kernel or a container forbids it.

    Empty if it can.
    """
    from mqperf.base.errors import MqperfError
    from mqperf.hosts import LocalHost
    from mqperf_flame.lab.named import check

    try:
        check(LocalHost())
    except MqperfError as error:
        return str(error)
    return ""


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the repository."""
    return Path(__file__).parent.parent


@pytest.fixture(scope="session", autouse=True)
def quick_java() -> Iterator[None]:
    """Limit the JVM to quick compilation, as servers and Maven run only for seconds here.

    It saves a third of their CPU time.
    """
    from mqperf_java.lab.java import ENVIRONMENT

    quick = "-XX:TieredStopAtLevel=1"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(cast("dict[str, str]", ENVIRONMENT), "JAVA_TOOL_OPTIONS", quick)
        patch.setenv("MAVEN_OPTS", f"{os.environ.get('MAVEN_OPTS', '')} {quick}")
        yield


@pytest.fixture(scope="session", autouse=True)
def samples_of_all(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let parallel test processes share the recorded samples that they have read."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        import samples

        samples.shared = tmp_path_factory.getbasetemp().parent


@pytest.fixture(scope="session")
def browser() -> str:
    """The headless browser's program, for tests marked needs_browser."""
    return next(filter(None, map(shutil.which, BROWSERS)))


@pytest.fixture(scope="module")
def tab(browser: str) -> Iterator["Tab"]:
    """A browser tab in which pages are opened, one after the other."""
    from browsing import Tab, tab_of

    with tab_of(browser, Tab) as tab:
        yield tab


@pytest.fixture(scope="session")
def five_hosts() -> Iterator[Laboratory]:
    """Five hosts; if they cannot be created, tests are skipped with the reason, or fail in CI."""
    try:
        with laboratory(5) as hosts:
            yield hosts
    except HostError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def places(five_hosts: Laboratory) -> tuple[Place, ...]:
    """The five hosts as the laboratory's inventory names them."""
    return inventory.read(five_hosts.inventory).places


@pytest.fixture(scope="session")
def rabbitmq() -> Iterator["PrivateCluster"]:
    """A RabbitMQ shared by all tests that leave it unchanged; started on first use."""
    from one_rabbitmq import running

    with RUNNING:
        yield RUNNING.enter_context(running())


@pytest.fixture
def shared(rabbitmq: "PrivateCluster") -> Iterator[None]:
    """Let the sweeps of a test use the shared RabbitMQ instead of starting one."""
    from one_rabbitmq import used_by_sweeps

    with used_by_sweeps(rabbitmq):
        yield


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of mqperf; installers still find their own earlier downloads."""
    for variable, name in (("UV_CACHE_DIR", "uv"), ("PIP_CACHE_DIR", "pip")):
        if variable not in os.environ:
            monkeypatch.setenv(variable, str(user_cache_path(name)))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "mqperf"
