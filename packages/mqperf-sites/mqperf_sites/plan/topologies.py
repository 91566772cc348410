"""Topologies of two sites: clients are in the first, servers in the second."""

from mqperf.plan.topologies import Family, Topology

NEAR, FAR = "Near", "Far"
NODES = (NEAR, FAR)
DIRECT, SHOVEL, FEDERATED = "sites-direct", "sites-shovel", "sites-federated"


def _topology(name: str, client: int, words: str, sentence: str) -> Topology:
    return Topology(name, words, words, sentence, client, server=1, nodes=NODES)


FAMILY = Family(
    "sites",
    (
        _topology(
            DIRECT,
            1,
            "Client -> far Broker, Server -> far Broker",
            "Clients connect to the broker in the site of servers; there is none between them.",
        ),
        _topology(
            SHOVEL,
            0,
            "Client -> near Broker, Shovel -> far Broker",
            "Clients connect to the broker in their site, from which a shovel moves all messages"
            " to that of servers.",
        ),
        _topology(
            FEDERATED,
            0,
            "Client -> near Broker, federated Queue at far Broker",
            "Clients connect to the broker in their site, from whose queues those in the site of"
            " servers get messages for consumers, by federation.",
        ),
    ),
)
