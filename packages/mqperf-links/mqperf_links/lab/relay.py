"""Links of packets that a process of ours carries between hosts in namespaces of this machine.

Each host of either end gets a network device whose other side is the relay, and routes through it
to the hosts of the other end: nothing else goes that way.  Devices and routes are the relay's, and
vanish with it; it ends with us, however we end.
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
"""About what it carries; a limit beyond that would be its own, not the plan's."""

DELAYS_PER_JITTER = 3
"""A delay is never negative: with a larger jitter it would not have the mean that is asked for."""

LIMIT_S = 30.0
END_LIMIT_S = 5.0


@dataclass(frozen=True, slots=True)
class Relayed:
    """A link that the relay makes."""

    places: Ends
    seed: int
    calibration: Calibration
    _program: Piped
    _pid: int

    def measure(self) -> MeasuredLink:
        """Delay, jitter and bandwidth by datagrams; loss by the packets counted until now."""
        if self.calibration.asked.loss_share:
            self.calibration.flood()
        measured = self.calibration.measure()
        counts = self.packets()
        seen = counts["came"] - counts["swallowed"] + counts["unread"]
        gone = counts["lost"] + counts["unread"]
        if self.calibration.asked.bandwidth_bits_s is None:
            gone += counts["full"]  # else it is what a full link does
        known = seen > 0 and statistically_known(self.calibration.asked.loss_share, seen)
        return measured.model_copy(update={"loss_share": gone / seen if known else None})

    def check(self) -> None:
        """Raise ``HostError`` when the relay has ended; costs nothing."""
        if (code := self._program.link.wait()) is not None:
            complaints = one_line(self._program.complaints())
            raise HostError(
                f"the packet relay of the link ended ({code}), and every packet with it;"
                f" repeat the command; its last words: {complaints or 'none'}"
            )

    def processes(self) -> Mapping[str, Mapping[str, int]]:
        """The relay, which counts as one of the first host's."""
        return {self.places[0][0].host.name: {LABEL: self._pid}}

    def facts(self) -> Mapping[str, JsonValue]:
        """What became of the packets, and the seed by which some were lost."""
        return {"seed": self.seed, "packets": {**self.packets()}}

    def packets(self) -> Mapping[str, float]:
        """What became of all packets until now, both directions together.

        ``unread`` is what a device had no room for while the relay was busy.
        """
        return self._tell("count")

    def cut(self) -> None:
        """Pull the cables of both ends: their hosts know, and packets on the way are lost."""
        self._tell("cut")

    def swallow(self) -> None:
        """Let every packet vanish, and nobody know."""
        self._tell("swallow")

    def beyond(self, quantities: Mapping[str, float]) -> str | None:
        """What of these quantities, in the place of the plan's, it cannot have."""
        return _beyond(self.calibration.asked.model_copy(update=dict(quantities)))

    def impair(self, quantities: Mapping[str, float]) -> None:
        """Delay, lose and slow packets that come from now on in another way."""
        self._tell(f"impair {json.dumps({**self.calibration.asked.quantities, **quantities})}")

    def restore(self) -> None:
        """Undo all of it."""
        self._tell("restore")

    def _tell(self, order: str) -> dict[str, float]:
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
    """What is in its way: hosts that are none of a laboratory, the link itself, the machine."""
    if reason := ends.both(link, hosts) or _beyond(link) or _lacking():
        return reason
    places = ends.found(link, hosts)
    return places if isinstance(places, str) else None


def _beyond(link: LinkPoint) -> str | None:
    """What of a link it cannot make."""
    if link.jitter_s * DELAYS_PER_JITTER > link.delay_s:
        return (
            f"a delay of {link.delay_s:g} s cannot vary by {link.jitter_s:g} s: jitter_s may be"
            " a third of delay_s at most"
        )
    if link.bandwidth_bits_s is not None and link.bandwidth_bits_s > FASTEST_BITS_S:
        return f"it carries no more than {FASTEST_BITS_S:,} bits/s: lower bandwidth_bits_s"
    return None


def _lacking() -> str | None:
    """What it lacks on this machine."""
    if os.geteuid() != 0:
        return "it needs root, who alone may make network devices"
    if not TUN.exists():
        return f"there is no {TUN}: load the kernel's module tun (modprobe tun)"
    if shutil.which("nsenter") is None:
        return "it needs nsenter: apt-get install util-linux"
    return None


@contextmanager
def laid(link: LinkPoint, hosts: Hosts) -> Iterator[Relayed]:
    """Run the relay, and lead what the ends say to each other through it."""
    places = ends.found(link, hosts)
    if isinstance(places, str):
        raise HostError(places)
    seed = random.getrandbits(32)
    order = json.dumps({"seed": seed, "link": link.quantities, "ends": _described(places)})
    # among the processes of a host, so that its probe sees it; our /proc has all namespaces
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
    """What it says next; nothing when it has ended, or stands still."""
    if select.select([program.output], [], [], LIMIT_S)[0]:
        return program.output.readline()
    return b""


BACKEND = Backend("tun-relay", "userspace packet relay (TUN)", obstacle, laid)
