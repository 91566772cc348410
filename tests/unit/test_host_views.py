"""What the notebook of hosts shows: facts, paths of messages, clocks, traffic."""

from pathlib import Path

import pandas as pd
import pytest
import samples

from mqperf.plan.columns import TABLES
from mqperf.study.tables import Tables
from mqperf_hosts.pages import views

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def several() -> Tables:
    return samples.read(ROOT / "data/samples/hosts")


@pytest.fixture(scope="module")
def one() -> Tables:
    return samples.read(ROOT / "data/samples/runs")


def test_a_host_is_one_row_with_its_role(several: Tables) -> None:
    """Three brokers, a client and a server, on one machine."""
    shown = views.facts(several)
    assert shown["roles"].tolist() == ["broker", "broker", "broker", "client", "server"]
    assert len(set(shown["machine"])) == 1


def test_one_host_has_the_roles_of_what_ran_there(one: Tables) -> None:
    """Roles that were not recorded follow from the processes; unknown facts have no column."""
    shown = views.facts(one)
    assert shown["roles"].to_dict() == {"local": "broker, client, server"}
    assert "machine" not in shown


def test_the_way_of_a_message_leads_over_hosts(several: Tables) -> None:
    """Clients reach the first slave, servers the second, each on its host."""
    shown = views.conversations(several)
    assert shown.to_numpy().tolist() == [
        ["client-1 on h4", "Slave 1 on h2", "Slave 2 on h3", "server-1 on h5"]
    ]


def test_a_load_without_targets_goes_to_every_server(several: Tables) -> None:
    """Loads other than the simulator have no targets: their messages go to all servers."""
    runs = several["runs"].assign(targets=pd.Series(dtype="string"))
    assert views.conversations({**several, "runs": runs})["servers"].tolist() == ["server-1 on h5"]


@pytest.mark.takes_long
@pytest.mark.parametrize("sample", sorted((ROOT / "data/samples").glob("*/plan.yaml")))
def test_every_recorded_run_can_be_shown(sample: Path) -> None:
    """The views have rows for every sample, whatever its load generator."""
    frames = samples.read(sample.parent)
    for view in (views.facts, views.conversations, views.network):
        assert len(view(frames)) > 0


def test_clients_with_servers_of_their_own_go_separate_ways(several: Tables) -> None:
    """Clients share a row only if their servers are on the same hosts."""
    cpu = several["cpu"]
    more = [
        cpu[cpu["process"] == old].assign(process=new, host=host)
        for old, new, host in (("client-1", "client-2", "h4"), ("server-1", "server-2", "h1"))
    ]
    frames = {**several, "cpu": pd.concat([cpu, *more])}
    assert views.conversations(frames)[["clients", "servers"]].to_numpy().tolist() == [
        ["client-1 on h4", "server-1 on h5"],
        ["client-2 on h4", "server-2 on h1"],
    ]
    frames["runs"] = several["runs"].assign(targets="shared")
    assert views.conversations(frames)[["clients", "servers"]].to_numpy().tolist() == [
        ["client-1 on h4, client-2 on h4", "server-1 on h5, server-2 on h1"]
    ]


def test_clocks_are_given_with_their_bounds(several: Tables, one: Tables) -> None:
    """Each host of each run has a row; runs with a single clock have none."""
    shown = views.clocks(several)
    assert len(shown) == len(several["hosts"])
    assert shown["clock before, ms"].str.fullmatch(r"[+-]\d+\.\d{3} ± \d+\.\d{3}").all()
    assert views.clocks(one).empty


def test_traffic_is_shown_by_interface(several: Tables) -> None:
    """Small values keep significant digits beside large ones."""
    shown = views.network(several)
    assert {"h1", "h2", "h3", "h4", "h5"} == set(shown.index.get_level_values("host"))
    assert not shown["sent, MB/s"].str.fullmatch(r"0(\.0+)?").any()


def test_memory_is_shown_by_host(several: Tables) -> None:
    """Values are means of repeats; runs without recorded memory have no row."""
    assert views.memory(several).empty
    values = {"memory_used_bytes": 3 * 2**30, "memory_available_bytes": 2**30}
    hosts = several["hosts"].reindex(columns=TABLES["memory"].columns)
    rows = hosts.assign(**values, swapped_in_bytes=2**20, swapped_out_bytes=0)
    shown = views.memory({**several, "memory": rows})
    assert {"h1", "h2", "h3", "h4", "h5"} == set(shown.index.get_level_values("host"))
    assert shown.drop_duplicates().to_numpy().tolist() == [["3.07e+03", "1.02e+03", "1", "0"]]


def test_missing_records_give_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    """Published tables have no hosts: each view shows a sentence instead."""
    frames = samples.read(ROOT / "data/published/2016")
    views.show_clocks(frames)
    views.show_cpu(frames, "rpc-call")
    views.show_network(frames)
    assert capsys.readouterr().out.count("Markdown") == 3
    assert views.facts(frames).empty
    assert views.conversations(frames).empty
