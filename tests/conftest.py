"""What every test may ask for: brokers, a browser, and the whole run with nothing left out."""

import gc
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

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

# None: with nbformat jsonschema would make 38 parsers, in a second, of addresses no notebook has.
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

ASKING_FOR_RABBITMQ = ('usefixtures("shared")', "rabbitmq: PrivateCluster")
"""How a file asks for the RabbitMQ that is started once in a process."""

RABBITMQS = 2
"""Processes that have one: all files that ask for it, one after the other, take longest."""

WAITING = "tests/integration/"
"""The tests that mostly wait for programs; all others compute."""

settings.register_profile(
    "ours",
    settings.default,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("ours")
"""Examples are slow where other tests take the CPU; all those of a test share its fixtures."""

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


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(no_programs)


@cache
def groups() -> Mapping[str, str]:
    """The RabbitMQ of each file that asks for one."""
    root = Path(__file__).parent.parent
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(root.glob(f"{WAITING}*.py"))}
    asking = [
        path for path, text in texts.items() if any(map(text.__contains__, ASKING_FOR_RABBITMQ))
    ]
    return {
        str(path.relative_to(root)): f"RabbitMQ {nth % RABBITMQS}"
        for nth, path in enumerate(asking)
    }


def group(file: str) -> str:
    """What must not be divided among processes: a file, or all that share one RabbitMQ."""
    return groups().get(file, file)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """For several processes, mix the files that wait for programs with those that compute.

    So the cores are used from the start; the longest come early, so that none is alone in the end.
    """
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
    """Leave what was imported and collected to no search for garbage: it stays until the end.

    Searched again and again, it took a tenth of the CPU of all tests.
    """
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


def file_of(nodeid: str) -> str:
    """The file of a test, from the root of the project."""
    return nodeid.partition("::")[0]


class Scheduler(LoadScopeScheduling):  # type: ignore[misc]  # its base has no types
    """Gives each group of tests to the process that has least to do."""

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
        # no package has one: so only continuous integration, which builds it, must have it
        (pytest.fail if IN_CI else pytest.skip)(f"no router: none of {', '.join(ROUTERS)}")
    if item.get_closest_marker("needs_perf") and (forbidden := forbids_perf()):
        pytest.skip(forbidden)
    if item.get_closest_marker("needs_browser") and not any(map(shutil.which, BROWSERS)):
        # Ubuntu has one only as a snap, which a container cannot run
        (pytest.fail if IN_CI else pytest.skip)(f"no browser: none of {', '.join(BROWSERS)}")


@cache
def forbids_perf() -> str:
    """Why perf may not look at processes: it is not there, or the kernel or a container forbids it.

    Empty where it may.
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
    """Have Java compile quickly instead of well: here servers, and Maven, run for seconds.

    It saves a third of their CPU.
    """
    from mqperf_java.lab.java import ENVIRONMENT

    quick = "-XX:TieredStopAtLevel=1"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(cast("dict[str, str]", ENVIRONMENT), "JAVA_TOOL_OPTIONS", quick)
        patch.setenv("MAVEN_OPTS", f"{os.environ.get('MAVEN_OPTS', '')} {quick}")
        yield


@pytest.fixture(scope="session", autouse=True)
def samples_of_all(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Have processes that share the tests out read each recorded sample once for all of them."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        import samples

        samples.shared = tmp_path_factory.getbasetemp().parent


@pytest.fixture(scope="session")
def browser() -> str:
    """The headless browser's program, for tests marked needs_browser."""
    return next(filter(None, map(shutil.which, BROWSERS)))


@pytest.fixture(scope="module")
def tab(browser: str) -> Iterator["Tab"]:
    """A tab in which pages are looked at, one after the other."""
    from browsing import Tab, tab_of

    with tab_of(browser, Tab) as tab:
        yield tab


@pytest.fixture(scope="session")
def five_hosts() -> Iterator[Laboratory]:
    """Five hosts; where they cannot be had, tests skip with the reason, and fail in CI."""
    try:
        with laboratory(5) as hosts:
            yield hosts
    except HostError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def places(five_hosts: Laboratory) -> tuple[Place, ...]:
    """Those hosts as the laboratory's inventory names them."""
    return inventory.read(five_hosts.inventory).places


@pytest.fixture(scope="session")
def rabbitmq() -> Iterator["PrivateCluster"]:
    """A RabbitMQ for all tests that leave it as it was; the first that asks for it starts it."""
    from one_rabbitmq import running

    with running() as cluster:
        yield cluster


@pytest.fixture
def shared(rabbitmq: "PrivateCluster") -> Iterator[None]:
    """Sweeps of a test get that RabbitMQ instead of one of their own."""
    from one_rabbitmq import lent

    with lent(rabbitmq):
        yield


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of mqperf; what the installers have fetched before they find again."""
    for variable, name in (("UV_CACHE_DIR", "uv"), ("PIP_CACHE_DIR", "pip")):
        if variable not in os.environ:
            monkeypatch.setenv(variable, str(user_cache_path(name)))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "mqperf"
