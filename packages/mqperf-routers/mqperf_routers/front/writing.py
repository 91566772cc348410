"""Writing the files of a network: configurations, a picture, a playbook, and node-link data."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from mqperf.plan.topologies import TOPOLOGIES
from mqperf_routers.front.places import Placed
from mqperf_routers.lab.configuration import configuration
from mqperf_routers.pages.picture import network_picture
from mqperf_routers.plan.network import Network
from mqperf_routers.plan.node_link import as_node_link
from mqperf_routers.plan.routes import ends

PLAYBOOK = Path(__file__).with_name("playbook.yaml")
EVERYWHERE = "0.0.0.0"  # noqa: S104 (a router is reached from the other hosts)


def write(networks: Sequence[Placed], out: Path) -> Iterator[Path]:
    """Write every network, several ones into folders by their names; yield the files."""
    contents = {
        out / (placed.name if len(networks) > 1 else "") / name: text
        for placed in networks
        for name, text in _files(placed)
    }
    for path, text in contents.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        yield path


def _files(placed: Placed) -> Iterator[tuple[str, str]]:
    network, addresses = placed.network, placed.addresses()
    for node in network.routers:
        text = configuration(network, node, addresses, listen=EVERYWHERE)
        yield f"routers/{node.id}.conf", text
    yield "network.json", json.dumps(as_node_link(network), indent=1) + "\n"
    yield "network.svg", _picture(placed.name, network)
    yield "playbook.yaml", _playbook(placed)


def _picture(name: str, network: Network) -> str:
    """Return the SVG, with client and server where runs of a plan have them."""
    topology = TOPOLOGIES.get(name)
    client, server = (topology.client, topology.server) if topology else ends(network)
    return network_picture(
        network,
        network.nodes[client].id,
        network.nodes[server].id,
        title=name,
        words=f"{len(network.routers)} routers, {len(network.brokers)} brokers,"
        f" {len(network.edges)} edges between them.",
    )


def _playbook(placed: Placed) -> str:
    """Return the Ansible playbook for the hosts of the routers."""
    routers: dict[str, list[str]] = {}
    for node in placed.network.routers:
        routers.setdefault(placed.hosts[node.id], []).append(node.id)
    text = PLAYBOOK.read_text(encoding="utf-8")
    return text.replace("@HOSTS@", json.dumps([*routers])).replace("@ROUTERS@", json.dumps(routers))
