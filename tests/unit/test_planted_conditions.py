"""Faults planted in runs at offered rates, over links, on several hosts, and with actions.

Like ``test_planted_files.py`` for the other samples: checksums and seal are recomputed.
"""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import pytest
from file_faults import (
    CLIENT,
    SERVER,
    Fault,
    all_of,
    case,
    facts,
    latencies,
    later,
    packets,
    payload,
    renamed_action,
    scaled_bytes,
    sealed,
    without_actions,
)

from mqperf.lab.actions import ACTIONS
from mqperf.record import Run
from mqperf.study import tables
from mqperf.study.probes.psutil_actions import CUT, EFFECTS, ENDED
from mqperf.study.stats import checks

pytestmark = pytest.mark.takes_long

SAMPLES = Path(__file__).parent.parent.parent / "data/samples"

SLOW = "stress/rabbitmq-cmsm-classic-publish-t0001-p1-r1-8750dc02"
FULL = "stress/rabbitmq-cmsm-classic-publish-t0001-p1-r1-befb4187"
WAN = "wan/rabbitmq-cmsm-classic-rpc-chain-t0004-p1-r1-"
NEAR, LOSING, DISCONNECTED = f"{WAN}9c2e7915", f"{WAN}c57112a2", f"{WAN}89b12886"
FIVE = "hosts/rabbitmq-cs1ss2-classic-rpc-cast-t0002-p1-r1-767a3fd9"
SHUTDOWN = "faults/qpid-dispatch-line-routed-transfer-t0002-p1-r1-4ffa99dd"

PLANTED: Mapping[str, tuple[str, str, str, Fault]] = {
    # latencies of counts
    "one-way latencies x 0.3": (
        "record-disagrees",
        "received: one-way latencies of .* s handover; clients recorded",
        SLOW,
        latencies(SERVER, "received", 0.3),
    ),
    "one-way latencies x 10": (
        "record-disagrees",
        "received: one-way latencies",
        SLOW,
        latencies(SERVER, "received", 10),
    ),
    "one-way latencies and service times x 0.3": (
        "record-disagrees",
        "received: one-way latencies",
        SLOW,
        all_of(latencies(SERVER, "received", 0.3), latencies(SERVER, "service", 0.3)),
    ),
    "one-way latencies and service times x 10, beyond saturation": (
        "record-disagrees",
        "received: one-way latencies",
        FULL,
        all_of(latencies(SERVER, "received", 10), latencies(SERVER, "service", 10)),
    ),
    "one-way latencies and service times x 0.3, beside losses": (
        "record-disagrees",
        "received: one-way latencies",
        SHUTDOWN,
        all_of(latencies(SERVER, "received", 0.3), latencies(SERVER, "service", 0.3)),
    ),
    "handover x 0.3": (
        "record-disagrees",
        "received: one-way latencies",
        SHUTDOWN,
        latencies(CLIENT, "handover", 0.3),
    ),
    # links
    "nothing recorded of the link": (
        "link-not-as-asked",
        "its properties are not recorded",
        LOSING,
        facts(lambda run: run.pop("link")),
    ),
    "no delay measured before": (
        "link-not-as-asked",
        "its delay before the load is not recorded",
        LOSING,
        facts(lambda run: run["link"]["before"].update(delay_s=None)),
    ),
    "nothing measured after": (
        "link-not-as-asked",
        "its delay after the load is not recorded",
        NEAR,
        facts(lambda run: run["link"].pop("after")),
    ),
    "2,000 packets lost on a link that loses none": (
        "link-not-as-asked",
        "2000 of 19135 packets were lost, which chance does not explain at the planned 0.00%",
        NEAR,
        packets(lost=2000, left=17135),
    ),
    "no packet lost at 5 %": (
        "link-not-as-asked",
        "0 of 24005 packets were lost, which chance does not explain at the planned 5.00%",
        LOSING,
        packets(lost=0, left=24005),
    ),
    "one packet lost on a link that loses none": (
        "link-not-as-asked",
        "1 of 14277 packets were lost",
        DISCONNECTED,
        packets(lost=1, left=14264),
    ),
    "3,000 packets without room": (
        "link-not-as-asked",
        "there was no room for 3000 of 19135 packets",
        NEAR,
        packets(full=3000, left=16135),
    ),
    "more packets left than came": (
        "link-not-as-asked",
        "more packets left it, or were dropped, than the 19135 that entered",
        NEAR,
        packets(left=19136),
    ),
    "packets 60 s late": (
        "link-not-as-asked",
        "packets left it 3.14 ms late on average",
        NEAR,
        packets(late_s=60.0),
    ),
    # actions
    "a disconnect that nothing tells of": (
        "empty-seconds",
        "in 6 of the 20 seconds of the window no message was finished",
        DISCONNECTED,
        all_of(case(actions=[]), without_actions),
    ),
    "a disconnect 3 s later": (
        "record-disagrees",
        "disconnect of the link from 9 s on: mqlink received nothing from 7 to 12 s instead",
        DISCONNECTED,
        later(3),
    ),
    "a disconnect 3 s earlier": (
        "record-disagrees",
        "disconnect of the link from 3 s on: mqlink received nothing from 7 to 12 s instead",
        DISCONNECTED,
        later(-3),
    ),
    "a stop called freeze": (
        "record-disagrees",
        "freeze of R2 from 6 s on: its process ended",
        SHUTDOWN,
        renamed_action("freeze"),
    ),
    "a stop of another node": (
        "record-disagrees",
        "stop of R1 from 6 s on: its process went on, with the same counters",
        SHUTDOWN,
        renamed_action("stop", "R1"),
    ),
    "a freeze of another node": (
        "record-disagrees",
        r"freeze of R1 from 6 s on: its process used 0.\d+ cores meanwhile",
        SHUTDOWN,
        renamed_action("freeze", "R1"),
    ),
    # bytes
    "loopback carried nothing": (
        "network-bytes",
        "lo carried 0 bytes/s, although 1000 messages a second of 256 bytes crossed it",
        SLOW,
        scaled_bytes(0, "local", "lo"),
    ),
    "a fifth of the bytes on loopback": (
        "network-bytes",
        "lo carried .* bytes/s, although 1000 messages a second of 256 bytes crossed it",
        SLOW,
        scaled_bytes(0.2, "local", "lo"),
    ),
    "a larger payload": (
        "network-bytes",
        "the network of h4 carried .* bytes/s, although 1742 messages a second of 5000 bytes",
        FIVE,
        all_of(case(parameters={"payload_bytes": 5000}), facts(payload(5000))),
    ),
    "a server's host received a third": (
        "network-bytes",
        "its hosts sent .* bytes/s, and received .* though all are of one machine",
        FIVE,
        scaled_bytes(0.3, "h5", "eth0"),
    ),
    "a client's host sent nothing": (
        "network-bytes",
        "its hosts sent .* bytes/s, and received .* though all are of one machine",
        FIVE,
        scaled_bytes(0, "h4", "eth0"),
    ),
}
"""Fault -> kind of the doubt, pattern of its text, run, function that plants it."""


def doubts(folder: Path, run: str, fault: Fault) -> pd.DataFrame:
    """The doubts about a run with this fault, in a folder named by its case."""
    shutil.copytree(SAMPLES / run, copy := folder / "copy")
    fault(copy)
    sealed(copy)
    case = Run(copy, copy.name, "done").facts().case
    assert case is not None
    named = copy.rename(folder / case.id)
    doubted = checks.doubts(tables.of_runs([Run(named, case.id, "done")]))
    assert not {"changed-record", "unreadable-run"} & set(doubted["kind"]), doubted["text"].tolist()
    return doubted


@pytest.mark.parametrize("what", PLANTED)
def test_a_planted_fault_is_named(tmp_path: Path, what: str) -> None:
    """The doubt has the right kind and text."""
    kind, pattern, run, fault = PLANTED[what]
    doubted = doubts(tmp_path, run, fault)
    text = " ".join(doubted.loc[doubted["kind"] == kind, "text"])
    assert re.search(pattern, text), doubted[["kind", "text"]].to_dict("records")


SOUND = [
    f"{folder}/{path.name}"
    for folder in ("stress", "wan", "faults", "hosts")
    for path in sorted((SAMPLES / folder).iterdir())
    if path.is_dir()
]


@pytest.mark.parametrize("run", SOUND)
def test_a_sound_run_has_none_of_these_doubts(tmp_path: Path, run: str) -> None:
    """An unchanged run, sealed again."""
    doubted = doubts(tmp_path, run, lambda _: None)
    assert not set(doubted["kind"]) & {kind for kind, *_ in PLANTED.values()}


def test_what_actions_do_is_known_of_actions() -> None:
    """Actions that end a node renew the system; actions that cut apply to links."""
    kinds = {name: ACTIONS[name] for name in EFFECTS}
    assert all(kinds[name].renews for name, effect in EFFECTS.items() if effect == ENDED)
    assert {kinds[name].on for name, effect in EFFECTS.items() if effect == CUT} == {("link",)}
