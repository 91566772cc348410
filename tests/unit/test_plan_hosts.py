"""Hosts of a plan, and the distribution of a case's processes over them."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from mqperf.base.errors import PlanError
from mqperf.hosts import Hosts, LocalHost
from mqperf.lab.runner.loads import _dealt
from mqperf.plan import MAX_THREADS, Case, Plan
from mqperf.plan.file import as_measured, parse_plan, public
from mqperf.plan.load import GENERATORS, pairs

TEXT = """\
hosts: laboratory
systems:
  zeromq: {topologies: [direct], queues: [none]}
test_cases: [rpc-call]
load:
  # a line that stays
  green_threads: [1, 5]
  processes: 2
  duration_s: 2
"""


class Named(LocalHost):
    """This machine under another name."""

    def __init__(self, name: str) -> None:
        self.name = name


def plan(text: str = TEXT) -> Plan:
    return parse_plan(text, Path("here.yaml"))


def ids(plan: Plan) -> list[str]:
    return [case.id for case in plan.cases()]


def test_a_plan_names_its_hosts() -> None:
    """A kind or an inventory; the ids of cases do not depend on it."""
    assert plan().hosts == "laboratory"
    elsewhere = plan(TEXT.replace("laboratory", "../hosts.yaml"))
    assert elsewhere.hosts == "../hosts.yaml"
    nowhere = plan(TEXT.removeprefix("hosts: laboratory\n"))
    assert nowhere.hosts is None
    assert ids(nowhere) == ids(plan()) == ids(elsewhere)


@pytest.mark.parametrize("wrong", ["''", "[h1, h2]", "5"])
def test_hosts_are_a_name_or_a_path(wrong: str) -> None:
    """Other values are errors with their line."""
    with pytest.raises(PlanError, match=r"here\.yaml:1: hosts"):
        plan(TEXT.replace("laboratory", wrong))


def test_all_client_hosts_are_used_unless_the_plan_says_how_many() -> None:
    """Each has the processes of the plan; numbers in the plan take precedence."""
    assert {(case.hosts, case.threads) for case in plan().on(3).cases()} == {(3, 6), (3, 30)}
    with_hosts = plan(TEXT.replace("processes: 2", "processes: 2\n  hosts: [1, 2]"))
    assert with_hosts.on(3) == with_hosts
    assert sorted((case.hosts, case.threads) for case in with_hosts.on(3).cases()) == [
        (1, 2),
        (1, 10),
        (2, 4),
        (2, 20),
    ]


def test_more_client_hosts_than_there_are_are_refused() -> None:
    """The error has both numbers, and where to add hosts."""
    wanted = plan(TEXT.replace("processes: 2", "hosts: [1, 3]"))
    with pytest.raises(PlanError) as error:
        wanted.on(2)
    assert str(error.value) == (
        "plan here: load.hosts: 3 client hosts are asked for, there are 2:"
        " name more in the group client of the inventory"
    )


def test_one_client_host_is_the_case_that_it_always_was() -> None:
    """Ids with one client host are unchanged; with several they differ."""
    with_host = plan(TEXT.replace("processes: 2", "processes: 2\n  hosts: 1"))
    assert ids(plan()) == ids(plan().on(1)) == ids(with_host)
    assert ids(plan())[0] == "zeromq-direct-none-rpc-call-t0002-p2-r1-0f3a26a6"
    assert not set(ids(plan().on(2))) & set(ids(plan()))


def test_threads_are_bounded_over_all_hosts() -> None:
    """Including background loads, and if all hosts are used by default."""
    half = TEXT.replace("[1, 5]", "10000").replace("processes: 2", "processes: 5")
    assert max(case.threads for case in plan(half).on(2).cases()) == MAX_THREADS
    with pytest.raises(PlanError, match="150,000 green threads over 3 client hosts, 0 of them in"):
        plan(half).on(3)
    with pytest.raises(PlanError, match="150,000 green threads over 3 client hosts"):
        plan(half.replace("processes: 5", "processes: 5\n  hosts: [1, 3]"))
    beside = "background: [{test_case: rpc-cast, green_threads: 10, processes: 2}]\n"
    with pytest.raises(PlanError, match="100,040 green threads over 2 client hosts, 40 of them in"):
        plan(half + beside).on(2)


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        TEXT.replace("load:\n", "load:  # of 2026\n\n"),
        TEXT.partition("load:")[0] + "load: {green_threads: [1, 5], processes: 2, duration_s: 2}\n",
        TEXT.partition("load:")[0] + '"load": {"duration_s": 2, "green_threads": [1, 5]}\n',
    ],
    ids=["block", "comment", "flow", "quoted"],
)
def test_the_recorded_plan_says_how_many_there_were(text: str) -> None:
    """The copy only adds the number of hosts, so it gives the same cases elsewhere."""
    copy = as_measured(text, {}, 3)
    assert copy.replace("hosts: 3\n  ", "").replace("hosts: 3, ", "") == text
    assert ids(plan(copy)) == ids(plan(text).on(3))
    assert public(copy) == copy


def test_the_recorded_plan_of_one_client_host_is_as_given() -> None:
    """It is not changed, nor is a plan with a number."""
    assert as_measured(TEXT, {}, 1) == TEXT
    text = TEXT.replace("processes: 2", "hosts: 2")
    assert as_measured(text, {}, 3) == text


def case(**changes: object) -> Case:
    fixed = {
        "system": "zeromq",
        "topology": "direct",
        "queues": "none",
        "test_case": "rpc-call",
        "green_threads": 5,
        "duration_s": 2,
    }
    return Case.model_validate(fixed | changes)


def labels(hosts: Sequence[str], load: Case, servers: Sequence[str]) -> dict[str, list[str]]:
    """The processes on each host by its name."""
    bench = Hosts((Named("b1"),), tuple(map(Named, hosts)), tuple(map(Named, servers)))
    by_host: dict[str, list[str]] = {}
    for host, share in _dealt(GENERATORS[load.generator], load, bench.with_clients(load.hosts)):
        by_host.setdefault(host.name, []).extend(member.label for member in share)
    return by_host


def test_every_client_host_has_the_processes_of_the_plan() -> None:
    """Pairs are numbered over all hosts; servers share their hosts."""
    load = case(processes=2, hosts=2)
    assert [member.label for member in pairs(load)] == [
        *("server-1", "server-2", "server-3", "server-4"),
        *("client-1", "client-2", "client-3", "client-4"),
    ]
    assert labels(["c1", "c2", "c3"], load, ["s1"]) == {
        "s1": ["server-1", "server-2", "server-3", "server-4"],
        "c1": ["client-1", "client-3"],
        "c2": ["client-2", "client-4"],
    }


def test_a_host_without_a_process_is_left_alone() -> None:
    """Surplus hosts of servers or clients have no entry."""
    assert labels(["c1", "c2"], case(), ["s1", "s2"]) == {"s1": ["server-1"], "c1": ["client-1"]}


def test_one_host_has_everything() -> None:
    """Servers start first, as before several hosts were possible."""
    assert labels(["local"], case(processes=2), ["local"]) == {
        "local": ["server-1", "server-2", "client-1", "client-2"]
    }
