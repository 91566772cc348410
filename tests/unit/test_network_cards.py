"""How a report describes the network between load generators and brokers."""

import json
import shutil
from pathlib import Path

import pytest
import samples

from mqperf.pages.report import side_by_side
from mqperf.pages.report.environment import environment
from mqperf.study import tables
from mqperf.study.tables import Tables

RUN = "rabbitmq-cmsm-classic-rpc-call-t0005-p1-r1-367280fe"
CARD = {"name": "ens1", "model": "Maker X1", "driver": "x1", "speed_bits_per_s": 25_000_000_000}


def elsewhere(root: Path, folder: Path, *interfaces: str) -> Tables:
    """A recorded run, changed as if an existing cluster was reached by these interfaces."""
    shutil.copytree(root / "data/samples/runs" / RUN, folder / RUN)
    file = folder / RUN / "run.json"
    facts = json.loads(file.read_text())
    for node, interface in zip(facts["system"]["nodes"], interfaces * 3, strict=False):
        node["interface"] = interface
    facts["system"]["cluster"] = "existing"
    facts["hosts"][0]["network_cards"] = [CARD, {"name": "ens2", "driver": "x2"}]
    file.write_text(json.dumps(facts))
    return tables.read(folder)


def shown(read: Tables) -> dict[str, str]:
    return {row[0]: row[1] for row in environment(read["runs"], read["cpu"])["Network"].rows}


def test_the_card_to_an_existing_cluster_is_shown(root: Path, tmp_path: Path) -> None:
    """Model, driver and speed; the text for loopback is left out."""
    read = elsewhere(root, tmp_path, "ens1", "ens1")
    facts = shown(read)
    assert facts["network card"] == "Maker X1"
    assert facts["driver of the network card"] == "x1"
    assert facts["speed of the network card"] == "25 Gbit/s"
    page = " ".join(side_by_side.caveats(read["runs"], {"rabbitmq": "RabbitMQ"}))
    assert "without a network between" not in page


@pytest.mark.parametrize(("interface", "card"), [("lo", "loopback"), ("ens9", "not recorded")])
def test_loopback_is_shown_only_where_it_was_used(
    root: Path, tmp_path: Path, interface: str, card: str
) -> None:
    """An unknown interface is "not recorded", not loopback."""
    assert shown(elsewhere(root, tmp_path, interface))["network card"] == card


def test_a_private_cluster_is_on_loopback(root: Path) -> None:
    """Loopback has neither driver nor speed, which is not a gap."""
    facts = shown(samples.read(root / "data/samples/runs"))
    assert (facts["network card"], facts["driver of the network card"]) == (
        "loopback",
        "none: loopback",
    )
