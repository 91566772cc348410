"""Doubts about hosts: their CPU, the sampled processes, their identity, and their clocks."""

import pandas as pd
import pytest
from sound_sweep import CALL, found, planted, sound, texts, texts_of

from mqperf.study import tables

pytestmark = pytest.mark.takes_long


def test_probe_gaps_at_the_ends_and_everywhere_are_found() -> None:
    """A process that died leaves no samples from then on; a dead probe leaves none at all."""
    frames = sound()
    cpu = frames["cpu"]
    died = (cpu["run"] == "rpc-call-100-r1") & (cpu["process"] == "Master") & (cpu["end_s"] > 6)
    unsampled = (cpu["run"] == "rpc-cast-100-r1") & (cpu["scope"] == "interval")
    frames["cpu"] = cpu[~died & ~unsampled]
    assert texts(frames) == {
        ("probe-gap", "rpc-call-100-r1"): "CPU was not sampled in the whole window: Master for 4 s",
        ("probe-gap", "rpc-cast-100-r1"): "CPU was not sampled at all",
    }


def test_a_full_host_makes_the_tester_doubtful() -> None:
    """Broker and load generator on one full host disturb each other, if they fill it."""
    frames = planted("cpu", {"total_cores": 3.9}, f"{CALL} and process == 'host'")
    cpu = frames["cpu"]
    master = cpu.query(f"{CALL} and process == 'Master'").index
    cpu.loc[master, "total_cores"] = 2.6
    assert found(frames) == {("tester-saturated", "rpc-call-100-r1")}
    cpu.loc[master, "total_cores"] = 1.2
    [(doubt, text)] = texts(frames).items()
    assert doubt == ("noisy-host", "rpc-call-100-r1")
    assert text.endswith("used 1.60 of the 4 cores of host, 40 %, and it had no CPU left")


@pytest.mark.parametrize(
    "where", ["process == 'Master'", "process == 'client-1' and scope == 'window'"]
)
def test_a_process_that_was_not_sampled_is_no_noise(where: str) -> None:
    """Its unknown CPU would look like that of processes outside of the run."""
    frames = planted("cpu", {"total_cores": 3.9}, f"{CALL} and process == 'host'")
    frames["cpu"] = frames["cpu"].drop(frames["cpu"].query(f"{CALL} and {where}").index)
    assert texts_of("noisy-host", frames) == {}


def hosts_of(run: str, *hosts: tuple[str, str | None]) -> pd.DataFrame:
    """The rows of a run in the table ``hosts``."""
    rows = [{"run": run, "host": host, "roles": roles} for host, roles in hosts]
    return pd.DataFrame(rows)


def test_runs_of_several_sets_of_hosts_are_mixed() -> None:
    """A run of this machine among those of a laboratory is named, however alike they are."""
    runs = sound()["runs"]["run"].unique()
    five = [*(("h1", "broker"), ("h2", "broker"), ("h3", "broker")), ("h4", "client")]
    of_lab = [hosts_of(run, *five, ("h5", "server")) for run in runs]
    same = tables.conform("hosts", pd.concat(of_lab))
    assert found({**sound(), "hosts": same}) == set()
    here = hosts_of(runs[0], ("local", None))
    mixed = {**sound(), "hosts": tables.conform("hosts", pd.concat([here, *of_lab[1:]]))}
    [(doubt, text)] = texts(mixed).items()
    assert doubt == ("mixed-hosts", runs[0])
    assert "host local, in most runs h1 (broker), h2 (broker), h3 (broker), h4 (client)" in text


def test_roles_of_a_host_alone_are_no_difference() -> None:
    """A single host has all roles, whether they were recorded or not."""
    runs = sound()["runs"]["run"].unique()
    hosts = [hosts_of(run, ("local", "broker, client" if run == runs[0] else None)) for run in runs]
    assert found({**sound(), "hosts": tables.conform("hosts", pd.concat(hosts))}) == set()


HOST = {"run": "rpc-cast-100-r1", "host": "h2", "clock_between_s": 20.0} | {
    "clock_offset_before_s": 0.5,
    "clock_bound_before_s": 1e-4,
    "clock_bound_after_s": 1e-4,
}


@pytest.mark.parametrize(
    ("after_s", "doubted"), [(0.5, False), (0.51, False), (0.515, True), (0.45, True)]
)
def test_a_clock_that_changes_more_than_clocks_do_is_doubted(
    after_s: float, *, doubted: bool
) -> None:
    """The limit is both bounds and 500 millionths of the time between, ahead or behind."""
    hosts = tables.conform("hosts", pd.DataFrame([{**HOST, "clock_offset_after_s": after_s}]))
    assert bool(texts_of("clock-drift", {**sound(), "hosts": hosts})) == doubted


@pytest.mark.parametrize(
    ("name", "usual", "costly"),
    [("payload_bytes", 64, 10_000_000), ("command", "true", "openstack"), ("rate_msg_s", 4000, 2)],
)
def test_costlier_messages_of_other_runs_are_no_doubt(
    name: str, usual: float | str, costly: float | str
) -> None:
    """CPU is compared between runs with the same parameters; there, an idle process is found."""
    frames, cpu = sound(), sound()["cpu"]
    frames["cpu"] = cpu.assign(total_cores=cpu["total_cores"] / 100)
    frames["runs"] = frames["runs"].assign(**{name: usual})
    costlier = sound() | {"runs": sound()["runs"].assign(**{name: costly})}
    for table in ("runs", "messages", "cpu"):
        renamed = {column: costlier[table][column] + "-other" for column in ("run", "point")}
        frames[table] = pd.concat([frames[table], costlier[table].assign(**renamed)]).reset_index()
    assert texts_of("cpu-too-low", frames) == {}
    idle = frames["cpu"].eval("run == 'rpc-call-100-r1-other' and process == 'Master'")
    frames["cpu"].loc[idle, "total_cores"] = 0.0
    assert [*texts_of("cpu-too-low", frames)] == ["rpc-call-100-r1-other"]
