"""What pages say about hosts that share one machine."""

from pathlib import Path

import pandas as pd
import pytest
import samples

from mqperf.pages.report.build import build
from mqperf.pages.report.hosts import grid, shared
from mqperf.study.tables import Tables

pytestmark = pytest.mark.starts_programs

ROOT = Path(__file__).parent.parent.parent
SENTENCE = (
    "These hosts are network namespaces of one machine with 2 hardware threads: h1, h2, h3, h4 and"
    " h5. They share its processors, memory, kernel and clock; packets between them never leave"
    " it."
)


@pytest.fixture(scope="module")
def namespaces() -> Tables:
    return samples.complete(ROOT / "data/samples/hosts")


def test_every_page_says_that_hosts_are_one_machine(namespaces: Tables, tmp_path: Path) -> None:
    """The overview, the methods, and the pages of system and topology say so."""
    build(namespaces, tmp_path / "report", title="RabbitMQ on five hosts", html=False)
    for page in ("", "methods", "rabbitmq", "rabbitmq/cs1ss2"):
        text = (tmp_path / "report" / page / "index.rst").read_text()
        assert SENTENCE in " ".join(text.split()), page


def test_the_table_of_hosts_counts_machines(namespaces: Tables) -> None:
    """Five hosts share a machine; the sixth has its own."""
    hosts = namespaces["hosts"]
    more = hosts[hosts["host"].eq("h1")].assign(host="other", machine="another")
    table = grid({**namespaces, "hosts": pd.concat([hosts, more])})
    assert table is not None
    assert table.headings[1] == "machine"
    assert [row[1] for row in table.rows] == ["1, as 5 hosts"] * 5 + ["2"]


def test_hosts_of_their_own_machines_are_not_said_to_share(namespaces: Tables) -> None:
    """Nor are hosts whose machine is unknown, or a machine that was one host at a time."""
    hosts = namespaces["hosts"]
    assert list(shared(hosts)) == [SENTENCE]
    assert list(shared(hosts.assign(machine=hosts["host"]))) == []
    assert list(shared(hosts.assign(machine=None))) == []
    assert list(shared(hosts.assign(run=hosts["run"] + hosts["host"]))) == []


def test_hosts_are_namespaces_only_where_their_cards_say_so(namespaces: Tables) -> None:
    """A machine that is reached by two addresses has no namespaces."""
    [sentence] = shared(namespaces["hosts"].assign(network_cards="eth0 (virtio, 10 Gbit/s)"))
    assert sentence.startswith("These hosts are parts of one machine with 2 hardware threads: h1,")


def test_offsets_of_clocks_have_room(namespaces: Tables) -> None:
    """The style sheet makes their columns wide enough for a number and its ±."""
    table = grid(namespaces)
    assert table is not None
    assert table.headings[-3:-1] == ("clock before, ms", "clock after, ms")
    style = (ROOT / "mqperf/pages/report/static/report.css").read_text()
    assert (
        f"table.{table.style} td:is(:nth-last-child(2), :nth-last-child(3)) {{ min-width" in style
    )
