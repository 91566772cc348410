"""A run over a link: RabbitMQ and its clients, actions on the link, and the resulting tables."""

from pathlib import Path

import psutil
import pytest
from patience import DOUBTS_OF_A_BUSY_MACHINE
from typing_extensions import override

from mqperf.lab.runner import Gauge, Reading, Silent, linking, sweep
from mqperf.lab.systems.in_plans import problems_of
from mqperf.plan import Case
from mqperf.plan.file import read_plan
from mqperf.record import read_events, runs
from mqperf.study import tables
from mqperf.study.stats import checks
from mqperf_laboratory.hosts import Laboratory

pytestmark = pytest.mark.needs_rabbitmq

PLAN = """\
systems:
  rabbitmq: {topologies: [cmsm]}
test_cases: [rpc-call]
link: {between: [server, broker], delay_s: 0.05}
load: {green_threads: [5], duration_s: 15, warmup_s: 1}
actions:
  - {do: disconnect, link: true, at_s: 2, for_s: 2}
  - {do: script, host: h5, at_s: 2, for_s: 1, script_file: name.sh, arguments: [of]}
  - {do: partition, node: Slave 2, at_s: 5, for_s: 1}
  - {do: black-hole, link: true, at_s: 9, for_s: 2}
  - {do: impair, link: true, at_s: 13, for_s: 1, delay_s: 0.1, loss_share: 0.1}
"""
SCRIPT = """\
#!/bin/sh
echo the host $1 $MQPERF_HOST has the address $(hostname -I)
"""


class GaugeReader(Silent):
    """Reads the gauge when the load has ended."""

    reading: Reading | None = None

    @override
    def watching(self, case: Case, gauge: Gauge | None) -> None:
        if gauge is not None:
            self.gauge = gauge
        elif self.reading is None:
            self.reading = self.gauge.read()


DISTURBED = {"not-recovered", "littles-law", "link-not-as-asked"}
"""Doubts if a busy machine made throughput uneven before an action, or forwarded packets late."""

LATE = 0.02
"""How much later than planned, in seconds, a relay may forward packets on a busy machine."""


def test_a_run_over_a_link_has_its_delay_and_its_interruptions(
    five_hosts: Laboratory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A CALL takes two delays, as servers are beyond the link; interruptions stop all calls.

    The link is recorded as planned and as measured, independent of actions; the CPU of the relay
    counts as harness, hosts record TCP congestion control, and a script's output is kept.
    """
    (tmp_path / "name.sh").write_text(SCRIPT)
    (tmp_path / "wan.yaml").write_text(PLAN)
    read, folder = read_plan(tmp_path / "wan.yaml", problems_of), tmp_path / "runs"
    reader = GaugeReader()
    monkeypatch.setattr(linking, "tolerances", lambda asked: dict.fromkeys(asked, LATE))
    outcome = sweep(read.plan, read.text, folder, reader, hosts=str(five_hosts.inventory))
    assert outcome.failed == ()
    assert reader.reading is not None
    assert reader.reading.arrived["server-1"].count > 0
    assert {"Master", "client-1", "server-1", "host h1", "host h5"} <= set(reader.reading.cores)
    frames = tables.read(folder)
    [link] = frames["links"].itertuples()
    assert (link.between, link.backend, link.delay_s) == ("server, broker", "tun-relay", 0.05)
    for measured in (link.delay_before_s, link.delay_after_s):
        assert measured == pytest.approx(0.05, abs=LATE)
    assert link.loss_after_share == pytest.approx(0.0, abs=LATE)
    trips = frames["latency"].query("stream == 'round-trip'")
    assert trips["latency_p50_s"].item() >= 0.1
    outages = frames["outages"].set_index("action")
    assert set(outages["node"]) == {"the link", "h5", "Slave 2"}
    for action in ("disconnect", "black-hole"):
        row = outages.loc[action]
        assert row["outage_s"] > 0.5 * row["downtime_s"] > 0
    assert (frames["messages"]["received"] == frames["messages"]["sent"]).all()
    relay = frames["cpu"].query("process == 'link relay' and scope == 'window'")
    assert relay["kind"].tolist() == ["harness"]
    assert 0 < relay["total_cores"].item() < 1
    assert frames["hosts"]["tcp_congestion_control"].notna().all()
    [run] = runs(folder)
    printed = (run.path / "actions/2-script.log").read_text()
    assert printed.startswith("the host of h5 has the address")
    events = [event.detail for event in read_events(run.path)]
    assert [event["number"] for event in events if event.get("exit_code") == 0] == [2]
    link_facts = run.facts().link
    assert link_facts is not None
    assert link_facts.packets["swallowed"] > 0
    assert link_facts.packets["lost"] == 0
    assert link_facts.packets["impaired"] > 0
    doubts = checks.doubts(frames)
    assert set(doubts["kind"]) <= DOUBTS_OF_A_BUSY_MACHINE | DISTURBED, [*doubts["text"]]
    words = [" ".join(p.info["cmdline"] or []) for p in psutil.process_iter(["cmdline"])]
    assert not [line for line in words if "packet_relay" in line and five_hosts.network in line]
