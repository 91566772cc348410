"""The simulator's command lines."""

import shlex
import stat
from pathlib import Path

import pytest

from mqperf.hosts import LocalHost
from mqperf.lab.load import Access, Command, Endpoint, LoadJob
from mqperf.lab.load.oslo.releases import RELEASES
from mqperf.lab.load.simulator.commands import commands, describe, queues
from mqperf.lab.load.simulator.environments import Environment
from mqperf.lab.runner.control import Station
from mqperf.onhost.load.simulator.counted import shares_of
from mqperf.plan import Case
from mqperf.plan.load import pairs

RUN = "rabbitmq-cmsm-r1.77"
TOPIC = "rabbitmq-cmsm-r1-77"
ACCESS = Access(
    Endpoint("amqp-0-9-1", ("127.0.0.1:5001",), "user", "hidden$1", "run"),
    Endpoint("amqp-0-9-1", ("127.0.0.1:5002",), "user", "hidden$1", "run"),
)


def case(**changes: object) -> Case:
    fixed = {
        "system": "rabbitmq",
        "topology": "cmsm",
        "queues": "classic",
        "test_case": "rpc-call",
        "green_threads": 10,
        "duration_s": 5,
    }
    return Case.model_validate(fixed | changes)


def job(tmp_path: Path, planned: Case) -> LoadJob:
    """All processes of a case, on one host."""
    environment = Environment(
        release=RELEASES["rabbitmq"],
        python="/host/python",
        path=(Path("/host/inside"), Path("/host/packages")),
        simulator=Path("/host/simulator.py"),
        versions={},
        tools=Path("/cache/tools"),
    )
    out, address = Path("/out"), LocalHost.address
    return LoadJob(planned, RUN, ACCESS, environment, pairs(planned), tmp_path, out, address)


def run(tmp_path: Path, **changes: object) -> list[Command]:
    started = commands(job(tmp_path, case(**changes)))
    for command in started:
        Station(LocalHost(), tmp_path).place(command.files)
    return started


def simulated(command: Command) -> list[str]:
    """The arguments that are passed to the simulator itself."""
    return list(command.argv[command.argv.index("--") + 1 :])


def after(command: Command, option: str) -> str:
    argv = simulated(command)
    return argv[argv.index(option) + 1]


def test_servers_come_first(tmp_path: Path) -> None:
    """Commands are in the order of their start, each with its label and role."""
    started = [(command.label, command.kind) for command in run(tmp_path, processes=2)]
    assert started == [
        ("server-1", "server"),
        ("server-2", "server"),
        ("client-1", "client"),
        ("client-2", "client"),
    ]


def test_each_pair_has_a_topic_of_its_own(tmp_path: Path) -> None:
    """A client reaches only its own server; dots in a topic would split the target."""
    _, server, _, client = run(tmp_path, processes=2)
    assert (after(server, "-tp"), after(server, "-s")) == (f"{TOPIC}-2", "server-2")
    assert after(client, "-tg") == f"{TOPIC}-2.server-2"


def test_shared_targets_name_no_server(tmp_path: Path) -> None:
    """Any server of the single topic takes the message, as in the reports of 2016."""
    started = run(tmp_path, processes=2, parameters={"targets": "shared"})
    assert {after(command, "-tp") for command in started} == {TOPIC}
    assert {after(command, "-tg") for command in started[2:]} == {TOPIC}
    assert [after(command, "-s") for command in started[:2]] == ["server-1", "server-2"]


@pytest.mark.parametrize(
    ("test_case", "server_end", "client_end"),
    [
        ("rpc-call", ["rpc-server"], ["rpc-client", "-p", "10", "--timeout", "10"]),
        ("rpc-cast", ["rpc-server"], ["rpc-client", "-p", "10", "--timeout", "10", "--is-cast"]),
        (
            "rpc-fanout",
            ["rpc-server"],
            ["rpc-client", "-p", "10", "--timeout", "10", "--is-cast", "--is-fanout"],
        ),
        ("notify", ["notify-server"], ["notify-client", "-p", "10", "--timeout", "10"]),
    ],
)
def test_mode_follows_what_concerns_both_roles(
    tmp_path: Path, test_case: str, server_end: list[str], client_end: list[str]
) -> None:
    """The simulator takes no common option after the mode, and -tg must not come last."""
    server, client = run(tmp_path, test_case=test_case)
    assert simulated(server)[-len(server_end) :] == server_end
    assert simulated(client)[-len(client_end) :] == client_end
    assert simulated(client).index("-tg") < simulated(client).index("-l")


def test_a_pause_is_the_simulators_own(tmp_path: Path) -> None:
    """Every thread pauses after each message."""
    _, client = run(tmp_path, parameters={"pause_s": 0.05})
    assert after(client, "-w") == "0.05"


def test_a_payload_is_the_length_of_every_body(tmp_path: Path) -> None:
    """It applies to clients; without it lengths follow the simulator's table."""
    _, client = run(tmp_path, parameters={"payload_bytes": 100})
    options = client.argv[: client.argv.index("--")]
    assert options[options.index("--payload") + 1] == "100"
    assert "--payload" not in run(tmp_path)[1].argv


def test_a_rate_is_shared_by_all_threads(tmp_path: Path) -> None:
    """Clients share it; servers learn that messages have due times; the simulator is unaware."""
    paced = run(tmp_path, processes=2, parameters={"rate_msg_s": 250})
    options = [" ".join(command.argv[: command.argv.index("--")]) for command in paced]
    assert all("--rates 250.0 --all-threads 20 --first-thread" in words for words in options)
    firsts = [words.partition("--first-thread ")[2].split()[0] for words in options]
    assert firsts == ["0", "10", "0", "10"]
    flood = run(tmp_path, processes=2)
    assert [simulated(command) for command in paced] == [simulated(command) for command in flood]
    assert not any("--rates" in command.argv for command in flood)


def test_a_count_is_shared_by_all_threads(tmp_path: Path) -> None:
    """It replaces the duration; the shim knows the shares, which may be unequal."""
    started = run(tmp_path, processes=2, parameters={"message_count": 45})
    options = [" ".join(command.argv[: command.argv.index("--")]) for command in started]
    assert all("--count 45 --load-s 8 --all-threads 20 --first-thread" in one for one in options)
    assert [after(client, "-m") for client in started[2:]] == ["3", "3"]
    assert not any("-l" in simulated(command) for command in started)
    share = shares_of(45, 20, 3)
    assert [share(thread) for thread in range(4)] == [3, 3, 2, 2]


def test_only_clients_have_a_duration(tmp_path: Path) -> None:
    """Clients send for the window with its margins; servers run until they are stopped."""
    server, client = run(tmp_path, duration_s=5, warmup_s=2, cooldown_s=1)
    assert after(client, "-l") == "8"
    assert "-l" not in simulated(server)


def test_secrets_are_in_private_files_only(tmp_path: Path) -> None:
    """Arguments and variables, which other users could read, do not contain the URL."""
    started = run(tmp_path)
    for command in started:
        assert "hidden" not in repr(command)
        config = Path(after(command, "--config-file"))
        assert stat.S_IMODE(config.stat().st_mode) == 0o600
    assert "hidden" not in repr(ACCESS)


def test_each_role_connects_to_its_own_node(tmp_path: Path) -> None:
    """The URL is in the role's oslo.config file; its password is percent-encoded."""
    run(tmp_path)
    assert (tmp_path / "client.conf").read_text() == (
        "[DEFAULT]\n"
        "transport_url = rabbit://user:hidden%241@127.0.0.1:5001/run\n"
        "[oslo_messaging_rabbit]\n"
        "rpc_conn_pool_size = 80\n"
    )
    assert "127.0.0.1:5002" in (tmp_path / "server.conf").read_text()


def test_every_green_thread_may_have_a_connection(tmp_path: Path) -> None:
    """With the driver's smaller default pool, nearly every message would log a warning."""
    run(tmp_path, green_threads=100, queues="quorum")
    assert (
        (tmp_path / "client.conf")
        .read_text()
        .endswith(
            "rpc_conn_pool_size = 116\n"
            "rabbit_quorum_queue = true\n"
            "rabbit_transient_quorum_queue = true\n"
        )
    )


def test_bodies_are_the_same_for_every_repeat(tmp_path: Path) -> None:
    """Repeats of a case send equal bodies; two clients of a run do not."""

    def seeds(**changes: object) -> list[str]:
        started = run(tmp_path, processes=2, **changes)[2:]
        return [command.argv[command.argv.index("--seed") + 1] for command in started]

    first, second = seeds(repeat=1)
    assert first != second
    assert seeds(repeat=2) == [first, second]
    assert seeds(green_threads=20) != [first, second]


def test_description_can_be_typed_by_hand() -> None:
    """It is the plain simulator, without the shim, with a placeholder for the URL."""
    server, client = describe(case(test_case="rpc-cast"))
    assert server == (
        "python simulator.py --url rabbit://USER:PASSWORD@HOST:5672/VHOST -j server-1.json"
        " -tp mqperf-1 -s server-1 rpc-server"
    )
    assert client == (
        "python simulator.py --url rabbit://USER:PASSWORD@HOST:5672/VHOST -j client-1.json"
        " -tg mqperf-1.server-1 -tp mqperf-1 -l 8 rpc-client -p 10 --timeout 10 --is-cast"
    )


@pytest.mark.parametrize("targets", ["own", "shared"])
def test_queues_of_a_run_are_known_by_name(targets: str) -> None:
    """The queues deleted after a run are those that the simulator's servers declare."""
    of_case = Case.model_validate(
        {
            "system": "rabbitmq",
            "topology": "cmsm",
            "queues": "classic",
            "test_case": "rpc-call",
            "green_threads": 1,
            "processes": 3,
            "duration_s": 1,
            "parameters": {"targets": targets},
        }
    )
    names, topics = set(queues(of_case, "mqperf")), set()
    for line in describe(of_case):
        words = shlex.split(line)
        topics.add(topic := words[words.index("-tp") + 1])
        assert {topic, f"{topic}_fanout"} <= names
        if "-s" in words:
            assert f"{topic}.{words[words.index('-s') + 1]}" in names
    of_notify = of_case.model_copy(update={"test_case": "notify"})
    assert {*queues(of_notify, "mqperf")} == {f"{topic}.info" for topic in topics}
