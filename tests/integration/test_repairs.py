"""Every repair of a simulator release: what fails without it, in the release's environment."""

import os
import re
import subprocess
import textwrap
from dataclasses import dataclass

import pytest

from mqperf.hosts import LocalHost
from mqperf.hosts.software import ALONE
from mqperf.lab.load.oslo.releases import RELEASES
from mqperf.lab.load.simulator import environments

GREENED = re.compile(r"^\d+ RLock\(s\) were not greened, .*\n", re.MULTILINE)
"""A message of eventlet 0.41 with Python 3.14, with any repairs."""


@dataclass(frozen=True)
class Example:
    """A short program like the simulator's code, and its output with and without a repair."""

    repair: str
    release: str
    program: str
    without: str
    repaired: str


EXAMPLES = (
    Example(
        "abstract_collections",
        "zeromq",
        "print('imported')",
        without="AttributeError: module 'collections' has no attribute 'Mapping'",
        repaired="imported",
    ),
    Example(
        "zmq_call_monitor",
        "zeromq",
        """
        from types import SimpleNamespace
        from oslo_messaging._drivers.impl_zmq import ZmqDriver
        client = SimpleNamespace(send_call=lambda *_: "answer")
        driver = SimpleNamespace(client=SimpleNamespace(get=lambda: client))
        print(ZmqDriver.send(driver, None, {}, {}, wait_for_reply=True, call_monitor_timeout=None))
        """,
        without="send() got an unexpected keyword argument 'call_monitor_timeout'",
        repaired="answer",
    ),
    Example(
        "whole_topic",
        "zeromq",
        """
        simulator.send_messages = lambda _, builder, *__: print(*builder.args[2])
        simulator.spawn_notify_clients(1, "topic", None, 1, 0, 1, 1)
        """,
        without="t o p i c",
        repaired="topic",
    ),
    Example(
        "amqp_expiry",
        "amqp",
        """
        import proton, time
        from oslo_messaging._drivers.amqp1_driver.eventloop import compute_timeout
        message = proton.Message()
        message.expiry_time = compute_timeout(60)
        print("expires in a minute:", 30 < message.expiry_time - time.time() < 63)
        """,
        without="expires in a minute: False",
        repaired="expires in a minute: True",
    ),
    Example(
        "amqp_warnings",
        "amqp",
        """
        import oslo_messaging._drivers.impl_amqp1, warnings
        warnings.warn("for every message")
        print("quiet")
        """,
        without="for every message",
        repaired="quiet",
    ),
    Example(
        "amqp_first_host",
        "amqp",
        """
        from types import SimpleNamespace
        from oslo_messaging._drivers.amqp1_driver.controller import Hosts
        names = [SimpleNamespace(hostname=n, port=1, username=None, password=None) for n in "abc"]
        url = SimpleNamespace(virtual_host=None, hosts=names)
        print(*sorted({Hosts(url).current.hostname for _ in range(100)}))
        """,
        without="a b c",
        repaired="a",
    ),
    Example(
        "flush_at_end",
        "kafka",
        """
        from types import SimpleNamespace
        waiting = ["handed over"]
        simulator.TRANSPORT = SimpleNamespace(cleanup=waiting.clear)
        simulator.show_client_stats([], None)
        print("lost:", waiting)
        """,
        without="lost: ['handed over']",
        repaired="lost: []",
    ),
    Example(
        "queue_manager_place",
        "rabbitmq",
        """
        import os
        from oslo_messaging._drivers.amqpdriver import QManager
        os.environ["OSLO_LOCK_PATH"] = "/lock"
        print(Path(QManager("host", "process").file_name).parts[1])
        """,
        without="dev",
        repaired="lock",
    ),
)

PREAMBLE = """\
from pathlib import Path
from mqperf.onhost.load.simulator.__main__ import _load
from mqperf.onhost.load.repairs import prepare, repair
repairs = {repairs}
prepare(repairs)
simulator = _load(Path({simulator!r}))
repair(simulator, repairs)
"""


def function(repair: str) -> str:
    """The function name in a repair."""
    return repair.partition(":")[2]


def output_of(example: Example, repairs: list[str]) -> str:
    """The last output of the example's program with these repairs."""
    environment = environments.ensure(example.release, LocalHost())
    preamble = PREAMBLE.format(repairs=repairs, simulator=str(environment.simulator))
    done = subprocess.run(
        [
            environment.python,
            *ALONE,
            "-c",
            preamble + textwrap.dedent(example.program),
        ],
        env={
            "PYTHONPATH": os.pathsep.join(map(str, environment.path)),
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        check=False,
        capture_output=True,
        text=True,
    )
    return GREENED.sub("", done.stderr + done.stdout).strip()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.repair)
def test_a_repair_repairs_what_fails_without_it(example: Example) -> None:
    """It works with all repairs of the release, and fails as described without this one."""
    repairs = list(RELEASES[example.release].repairs)
    assert output_of(example, repairs) == example.repaired
    assert example.without in output_of(
        example, [name for name in repairs if function(name) != example.repair]
    )


def test_every_repair_has_its_example() -> None:
    """No release uses a repair without an example that shows the need for it."""
    used = {
        (function(repair), name) for name, release in RELEASES.items() for repair in release.repairs
    }
    assert used == {(example.repair, example.release) for example in EXAMPLES}
