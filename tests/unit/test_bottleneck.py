"""The bottleneck of a run, as far as it can be determined."""

import pandas as pd
import pytest
import samples
from sound_sweep import CALL, PUBLISHED, Change, planted, sound, texts_of

from mqperf.study import tables
from mqperf.study.stats.bottleneck import bottlenecks


@pytest.mark.parametrize(
    ("process", "cores", "verdict"),
    [
        ("client-1", 0.95, "tester"),
        ("Master", 3.8, "broker: Master"),
        ("host", 3.95, "host"),
        ("host", 2.4, "none"),
    ],
)
def test_the_bottleneck_is_what_ran_out_of_cpu(process: str, cores: float, verdict: str) -> None:
    """The load generator comes before the broker and the host; none if all have CPU left."""
    frames = planted("cpu", {"total_cores": cores}, f"{CALL} and process == '{process}'")
    limits = bottlenecks(frames).set_index("run")
    assert limits.loc["rpc-call-100-r1", "bottleneck"] == verdict
    assert f"{process if process != 'host' else 'Master'} " in str(limits["because"].iloc[0])


def test_full_nodes_are_named_with_the_cores_of_their_hosts() -> None:
    """Hosts may have different numbers of cores; each node is compared with its own."""
    frames = planted("cpu", {"total_cores": 3.8}, f"{CALL} and process == 'Master'")
    master = frames["cpu"].query(f"{CALL} and process == 'Master'")
    slave = master.assign(process="Slave 1", host="b", cores=8, total_cores=7.8)
    frames["cpu"] = pd.concat([frames["cpu"], slave], ignore_index=True)
    limit = bottlenecks(frames).set_index("run").loc["rpc-call-100-r1"]
    assert limit["bottleneck"] == "broker: Master, Slave 1"
    assert limit["because"] == "of 4 cores: Master 3.80 cores; of 8 cores: Slave 1 7.80 cores"


@pytest.mark.parametrize(("generator", "doubted"), [("simulator", True), ("command", False)])
def test_commands_run_on_several_cores(generator: str, *, doubted: bool) -> None:
    """CPU of commands counts as that of their client, which may use all cores of its host."""
    frames = planted("cpu", {"total_cores": 1.5}, f"{CALL} and process == 'client-1'")
    frames["runs"]["generator"] = generator
    limits = bottlenecks(frames).set_index("run")["bottleneck"]
    assert (limits["rpc-call-100-r1"] == "tester") == doubted
    assert ("rpc-call-100-r1" in texts_of("tester-saturated", frames)) == doubted


@pytest.mark.parametrize(("cores", "verdict"), [(3.95, "host"), (3.0, "none")])
def test_several_nodes_fill_their_host_together(cores: float, verdict: str) -> None:
    """Load generators on another host are not doubted for it."""
    frames = planted("cpu", {"host": "b"}, f"{CALL} and process == 'Master'")
    whole = frames["cpu"].query(f"{CALL} and process == 'host'")
    brokers = whole.assign(host="b", process="host b", total_cores=cores)
    frames["cpu"] = pd.concat([frames["cpu"], brokers], ignore_index=True)
    limits = bottlenecks(frames).set_index("run").loc["rpc-call-100-r1"]
    assert limits["bottleneck"] == verdict
    assert ("the brokers' host was full (host b 3.95" in limits["because"]) == (verdict == "host")
    assert "rpc-call-100-r1" not in texts_of("tester-saturated", frames)


@pytest.mark.parametrize(
    ("change", "verdict", "because"),
    [
        ({"received_bytes_s": 115e6}, "network", "received 115.0 of 125.0 MB/s"),
        ({"received_bytes_s": 100e6}, "none", "sent 3.0 and received 100.0 of 125.0 MB/s"),
        ({"received_bytes_s": 115e6, "speed_bytes_s": None}, "none", "received 115.0 MB/s"),
        ({"retransmitted_share": 0.02}, "network", "2.0 % of the TCP segments of host local"),
        ({"retransmitted_share": None}, "none", "no process out of CPU"),
    ],
)
def test_the_network_is_a_limit_when_full_or_lossy(
    change: Change, verdict: str, because: str
) -> None:
    """A link at nine tenths of its speed, or one segment in a hundred retransmitted."""
    link: dict[str, str | float | None] = {
        "run": "rpc-call-100-r1",
        "host": "local",
        "interface": "eth0",
        "retransmitted_share": 0.001,
        "sent_bytes_s": 3e6,
        "received_bytes_s": 4e6,
        "speed_bytes_s": 125e6,
    }
    network = tables.conform("network", pd.DataFrame([{**link, **change}]))
    limits = bottlenecks({**sound(), "network": network}).set_index("run")
    assert limits.loc["rpc-call-100-r1", "bottleneck"] == verdict
    assert because in str(limits.loc["rpc-call-100-r1", "because"])
    assert limits.loc["rpc-cast-100-r1", "bottleneck"] == "none"


def test_without_the_brokers_cpu_there_is_no_bottleneck() -> None:
    """A broker that was not sampled may have been the bottleneck."""
    frames = dict(sound())
    frames["cpu"] = frames["cpu"][frames["cpu"]["kind"] != "broker"]
    limits = bottlenecks(frames)
    assert set(limits["bottleneck"]) == {"cannot tell"}
    assert limits["because"].iloc[0].startswith("CPU of the brokers not recorded; known: client-1")


def test_the_bottleneck_of_published_runs_is_not_guessed() -> None:
    """Published reports lack the CPU of load generators, so the bottleneck is unknown."""
    limits = bottlenecks(samples.read(PUBLISHED))
    assert set(limits["bottleneck"]) == {"cannot tell"}
    assert len(limits) == 48
