"""Input and output of mqperf topology."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import yaml

from mqperf.base.errors import MqperfError
from mqperf_routers.front.reading import read
from mqperf_routers.front.writing import write
from mqperf_routers.plan.node_link import from_node_link

INVENTORY = """\
routers:
  hosts:
    r1: {ansible_host: 192.0.2.1}
    r2: {ansible_host: 192.0.2.2}
    r3: {ansible_host: 192.0.2.3}
brokers:
  hosts:
    b1: {ansible_host: 192.0.2.9}
"""
PLAN = """\
systems:
  qpid-dispatch: {topologies: [ring-4, redundant], queues: [routed]}
  artemis: {topologies: [single]}
test_cases: [transfer]
load: {generator: amqp-1.0, green_threads: 1, duration_s: 1}
"""
SVG = "{http://www.w3.org/2000/svg}"


def written(folder: Path, text: str, name: str = "network.yaml") -> dict[str, str]:
    """The files that are written for a description of a network."""
    (folder / name).write_text(text)
    out = folder / "out"
    return {
        str(path.relative_to(out)): path.read_text() for path in write(read(folder / name), out)
    }


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(MqperfError) as error:
        written(folder, text)
    assert not (folder / "out").exists()
    return str(error.value).removeprefix(f"{folder}/")


def test_a_form_becomes_files(tmp_path: Path) -> None:
    """A configuration of each router, a picture, a playbook and the graph."""
    files = written(tmp_path, "form: ring-4\nbrokers: 1\n")
    assert [*files] == [
        *(f"routers/R{number}.conf" for number in range(1, 5)),
        "network.json",
        "network.svg",
        "playbook.yaml",
    ]
    assert "    host: 0.0.0.0\n    port: 5673\n" in files["routers/R1.conf"]
    assert "    host: B1\n    port: 5672\n" in files["routers/R1.conf"]
    connectors = {name: text.count("connector {") for name, text in files.items()}
    assert sum(connectors.values()) == 5
    again = from_node_link(json.loads(files["network.json"]))
    assert len(again.edges) == 5
    svg = ET.fromstring(files["network.svg"])  # noqa: S314 (our own drawing)
    texts = [element.text for element in svg.iter(f"{SVG}text")]
    assert {"R1", "R2", "R3", "R4", "B1", "Client", "Server"} <= {*texts}


def test_a_graph_by_itself_is_a_description(tmp_path: Path) -> None:
    """The written graph can be read again, as JSON."""
    files = written(tmp_path, "form: grid-2x3\n")
    again = written(tmp_path, files["network.json"], "again.json")
    assert {name: files[name] for name in files if name.endswith((".conf", ".json"))} == {
        name: again[name] for name in again if name.endswith((".conf", ".json"))
    }


def test_networks_of_a_plan_have_a_folder_each(tmp_path: Path) -> None:
    """Only its topologies that are networks."""
    files = written(tmp_path, PLAN, "plan.yaml")
    assert {name.partition("/")[0] for name in files} == {"ring-4", "redundant"}
    assert "    cost: 2\n" in files["redundant/routers/R4.conf"]


def test_hosts_of_an_inventory_are_nodes(tmp_path: Path) -> None:
    """Connectors have their addresses, and the playbook has their names."""
    (tmp_path / "hosts.yaml").write_text(INVENTORY)
    files = written(tmp_path, "form: line\ninventory: hosts.yaml\n")
    assert "    host: 192.0.2.1\n    port: 5673\n" in files["routers/r2.conf"]
    assert (
        "    name: to-b1\n    role: route-container\n    host: 192.0.2.9\n"
        in (files["routers/r1.conf"])
    )
    [play] = yaml.safe_load(files["playbook.yaml"])
    assert play["hosts"] == ["r1", "r2", "r3"]
    assert play["vars"]["routers"] == {"r1": ["r1"], "r2": ["r2"], "r3": ["r3"]}


@pytest.mark.parametrize(
    ("kind", "edges"),
    [
        ("line_graph", {"r1 r2", "r2 r3", "r3 b1"}),
        ("bus_graph", {"r1 r2", "r2 r3", "r1 b1"}),
        ("line_mix_graph", {"r1 b1", "r2 b1", "r2 r3"}),
        ("cycle_graph", {"r1 b1", "r2 b1", "r2 r3", "r3 r1"}),
        ("complete_graph", {"r1 r2", "r1 r3", "r2 r3", "r1 b1", "r2 b1", "r3 b1"}),
    ],
)
def test_metadata_of_maestros_authors_are_read(tmp_path: Path, kind: str, edges: set[str]) -> None:
    """Their keys for the form and the inventory are understood."""
    (tmp_path / "hosts.yaml").write_text(INVENTORY)
    files = written(tmp_path, f"hostfile: hosts.yaml\ngraph_type: {kind}\n")
    network = from_node_link(json.loads(files["network.json"]))
    assert {f"{edge.first} {edge.second}" for edge in network.edges} == edges


def test_a_graph_file_may_keep_defaults_away(tmp_path: Path) -> None:
    """Entities of a node are added to the generated ones, or replace them."""
    (tmp_path / "graph.yaml").write_text(
        "nodes:\n"
        "- {id: a, type: router, def_list: no, listener: [{role: inter-router, port: 7000}]}\n"
        "- {id: b, type: router, sslProfile: [{name: own}]}\n"
        "links: [{source: 0, target: 1, value: 10}]\n"
    )
    files = written(tmp_path, "graph_file: graph.yaml\n")
    first, second = files["routers/a.conf"], files["routers/b.conf"]
    assert first.count("listener {") == 1
    assert "    host: a\n    port: 7000\n    cost: 10\n" in second
    assert second.endswith("sslProfile {\n    name: own\n}\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "form: hexagon-6\n",
            "network.yaml: unknown form 'hexagon-6'; known: line-SIZE, ring-SIZE",
        ),
        ("form: ring-2\n", "network.yaml: ring-2: 2 routers, expected 3 to 100"),
        ("form: ring-4\nrouter: 3\n", "network.yaml: router: unknown key; did you mean"),
        ("{}\n", "network.yaml: give one of form, graph and graph_file"),
        (
            "graph_type: line_graph\n",
            "network.yaml: line_graph takes its routers from an inventory",
        ),
        ("form: [\n", "network.yaml:2: "),
        ("graph_file: none.yaml\n", "none.yaml: cannot be read: No such file or directory"),
        (
            "nodes: [{id: a}, {id: b}]\nedges: []\n",
            "network.yaml: b has no path to a: add an edge",
        ),
        (
            (
                "nodes: [{id: a, host: h, port: 7000}, {id: b, host: h, port: 7001}]\n"
                "edges: [{source: a, target: b}]\n"
            ),
            "network.yaml: a and b both listen at port 7001 of h: give one of them another port",
        ),
        (
            (
                "graph:\n  nodes: [{id: a}, {id: r9}]\n  edges: [{source: a, target: r9}]\n"
                "inventory: hosts.yaml\n"
            ),
            "hosts.yaml has no host 'a', on which a would run: add it",
        ),
        (
            "form: ring-4\ninventory: hosts.yaml\n",
            "network.yaml: ring-4 has 4 routers, and 3 are named",
        ),
        ("form: ring\ninventory: no.yaml\n", "no.yaml: there is no such inventory"),
    ],
)
def test_an_invalid_network_is_refused_in_a_line(tmp_path: Path, text: str, message: str) -> None:
    """Nothing is written."""
    (tmp_path / "hosts.yaml").write_text(INVENTORY)
    sentence = refusal(tmp_path, text).replace(f"{tmp_path}/", "")
    assert message in sentence
    assert "\n" not in sentence
