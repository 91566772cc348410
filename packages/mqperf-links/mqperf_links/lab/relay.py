"""Links by a relay process of ours, which forwards packets between namespaces of this machine.

Each host of either end gets a network device whose other side is the relay, and routes through it
to the hosts of the other end; no other traffic goes there.  Devices and routes belong to the relay,
and vanish with it; it ends with this process, however that ends.
"""

import json
import os
import random
import select
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from mqperf.base import processes
from mqperf.base.errors import HostError
from mqperf.base.one_line import one_line
from mqperf.base.processes.piped import Piped, piped
from mqperf.hosts import Hosts
from mqperf.hosts.software import programs
from mqperf.lab.links import Backend
from mqperf.plan import LinkPoint, statistically_known
from mqperf.record import MeasuredLink
from mqperf_links.lab import ends
from mqperf_links.lab.calibration import Calibration
from mqperf_links.lab.ends import Ends
from mqperf_links.lab.routes import lead

PACKAGE = "mqperf_links"
LABEL = "link relay"
TUN = Path("/dev/net/tun")
FASTEST_BITS_S = 10**9
"""About the capacity of the relay; a plan's limit above that would not take effect."""

DELAYS_PER_JITTER = 3
"""Least ratio: delays are never negative, so a larger jitter would shift their mean."""

LIMIT_S = 30.0
END_LIMIT_S = 5.0


@dataclass(frozen=True, slots=True)
class Relayed:
    """A link made by the relay."""

    places: Ends
    seed: int
    calibration: Calibration
    _program: Piped
    _pid: int

    def measure(self) -> MeasuredLink:
        """Measure delay, jitter and bandwidth by datagrams, loss by the packets counted so far."""
        if self.calibration.link.loss_share:
            self.calibration.flood()
        measured = self.calibration.measure()
        counts = self.packets()
        sent = counts["came"] - counts["swallowed"] + counts["unread"]
        lost = counts["lost"] + counts["unread"]
        if self.calibration.link.bandwidth_bits_s is None:
            lost += counts["full"]  # with a limit, a full link is expected to drop packets
        known = sent > 0 and statistically_known(self.calibration.link.loss_share, sent)
        return measured.model_copy(update={"loss_share": lost / sent if known else None})

    def check(self) -> None:
        """Raise ``HostError`` if the relay has ended; a cheap check."""
        if (code := self._program.link.wait()) is not None:
            complaints = one_line(self._program.complaints())
            raise HostError(
                f"the packet relay of the link ended ({code}), and every packet with it; repeat the"
                f" command; its last output: {complaints or 'none'}"
            )

    def processes(self) -> Mapping[str, Mapping[str, int]]:
        """Return the relay's process, which counts as one of the first host."""
        return {self.places[0][0].host.name: {LABEL: self._pid}}

    def facts(self) -> Mapping[str, JsonValue]:
        """Return the counts of packets, and the seed of random losses."""
        return {"seed": self.seed, "packets": {**self.packets()}}

    def packets(self) -> Mapping[str, float]:
        """Return the counts of packets until now, both directions together.

        ``unread`` counts packets that a device dropped while the relay was busy.
        """
        return self._command("count")

    def cut(self) -> None:
        """Take the carrier from both ends: their hosts notice, and packets on the way are lost."""
        self._command("cut")

    def swallow(self) -> None:
        """Drop every packet, without notice to the hosts."""
        self._command("swallow")

    def beyond(self, quantities: Mapping[str, float]) -> str | None:
        """Return why the link cannot have these quantities, over the plan's; None if it can."""
        return _beyond(self.calibration.link.model_copy(update=dict(quantities)))

    def impair(self, quantities: Mapping[str, float]) -> None:
        """Apply these quantities, instead of the plan's, to packets that arrive from now on."""
        self._command(f"impair {json.dumps({**self.calibration.link.quantities, **quantities})}")

    def restore(self) -> None:
        """Undo ``cut``, ``swallow`` and ``impair``."""
        self._command("restore")

    def _command(self, order: str) -> dict[str, float]:
        self.check()
        try:
            self._program.feed.write(f"{order}\n".encode())
            answer: dict[str, float] = json.loads(_line(self._program))
        except (OSError, ValueError):
            self._program.link.wait(END_LIMIT_S)
            self.check()
            raise HostError(
                "the packet relay of the link does not answer: somebody stopped it;"
                " repeat the command"
            ) from None
        return answer


def obstacle(link: LinkPoint, hosts: Hosts) -> str | None:
    """Return why a link cannot be made: hosts outside a laboratory, its quantities, the machine."""
    if reason := ends.both(link, hosts) or _beyond(link) or _missing():
        return reason
    places = ends.found(link, hosts)
    return places if isinstance(places, str) else None


def _beyond(link: LinkPoint) -> str | None:
    """Return why the relay cannot make a link with these quantities; None if it can."""
    if link.jitter_s * DELAYS_PER_JITTER > link.delay_s:
        return (
            f"a delay of {link.delay_s:g} s cannot vary by {link.jitter_s:g} s: jitter_s may be"
            " a third of delay_s at most"
        )
    if link.bandwidth_bits_s is not None and link.bandwidth_bits_s > FASTEST_BITS_S:
        return f"it carries no more than {FASTEST_BITS_S:,} bits/s: lower bandwidth_bits_s"
    return None


def _missing() -> str | None:
    """Return what the relay lacks on this machine."""
    if os.geteuid() != 0:
        return "it needs root, who alone may make network devices"
    if not TUN.exists():
        return f"there is no {TUN}: load the kernel's module tun (modprobe tun)"
    if shutil.which("nsenter") is None:
        return "it needs nsenter: apt-get install util-linux"
    return None


@contextmanager
def laid(link: LinkPoint, hosts: Hosts) -> Iterator[Relayed]:
    """Run the relay, and route the traffic between both ends through it."""
    places = ends.found(link, hosts)
    if isinstance(places, str):
        raise HostError(places)
    seed = random.getrandbits(32)
    order = json.dumps({"seed": seed, "link": link.quantities, "ends": _described(places)})
    # in the PID namespace of a host, so that its probe sees it; our /proc has all namespaces
    inside = ("nsenter", f"--pid=/proc/{places[0][0].pid}/ns/pid", "--")
    argv = [*inside, sys.executable, "-SPB", "-m", f"{PACKAGE}.onhost.packet_relay", order]
    env = {**processes.usual_variables(), "PYTHONPATH": str(programs(PACKAGE))}
    with piped(argv, env) as program:
        hello = _hello(program)
        for end, other in (places, places[::-1]):
            for place in end:
                lead(place.host, str(hello["device"]), (peer.host for peer in other))
        with Calibration.between(link, [*ends.pairs(places)]) as calibration:
            try:
                yield Relayed(places, seed, calibration, program, int(hello["pid"]))
            finally:
                program.feed.close()
                program.link.wait(END_LIMIT_S)  # its devices are gone by then


def _described(places: Ends) -> list[list[dict[str, str]]]:
    return [[{"address": p.host.address, "namespace": p.network} for p in end] for end in places]


def _hello(program: Piped) -> dict[str, Any]:
    line = _line(program)
    hello: dict[str, Any] = json.loads(line) if line else {}
    if reason := hello.get("error", one_line(program.complaints()) if not hello else None):
        raise HostError(f"the packet relay of the link cannot start: {reason}")
    return hello


def _line(program: Piped) -> bytes:
    """Return its next line of output; empty if it has ended or does not answer."""
    if select.select([program.output], [], [], LIMIT_S)[0]:
        return program.output.readline()
    return b""


BACKEND = Backend("tun-relay", "userspace packet relay (TUN)", obstacle, laid)
