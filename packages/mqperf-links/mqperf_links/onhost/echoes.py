"""Measures a link by datagrams: echoes of single ones, and how fast many of them arrive.

``answer ADDRESS PORT`` sends back what comes, or counts it where it is of a burst, until it is
killed.  ``ask ADDRESS PEER PORT COUNT GAP WAIT`` prints the round trips in seconds as JSON;
``burst ADDRESS PEER PORT COUNT SIZE RATE WAIT`` how many datagrams arrived, and the seconds from
the first to the last.
"""

import json
import os
import select
import socket
import struct
import sys
import time
from contextlib import suppress
from typing import Any

ECHO, BURST, TELL = b"e", b"b", b"t"
HEAD = struct.Struct("=cqqq")
"""Kind, number of the echo or burst, when it was sent, and for how long the other end had it.

Times are nanoseconds.  Kernels note when a datagram came, so that a busy machine, on which programs
wait for their turn, is not taken for a slow link.
"""

SO_TIMESTAMPNS, SO_RCVBUFFORCE = 35, 33
STAMP = struct.Struct("@qq")

LONGEST = 1 << 16
BUFFER_BYTES = 32 << 20
PRIORITY = 1
"""A busy machine is no slow link: who measures goes before ordinary programs, where that is let."""

ASKED = 20
"""How often the other end is asked what arrived: an answer may be lost."""


def answer(address: str, port: str) -> None:
    """Serve until killed."""
    burst, count, first, last = -1, 0, 0.0, 0.0
    with _socket(address, int(port)) as server:
        print("ready", flush=True)
        while True:
            data, came_ns, peer = _received(server)
            kind, number, sent_ns, _ = HEAD.unpack_from(data)
            if kind == BURST:
                last = came_ns / 1e9
                if number != burst:
                    burst, count, first = number, 0, last
                count += 1
            elif kind == TELL:
                report = [count, last - first] if number == burst else [0, 0.0]
                server.sendto(json.dumps(report).encode(), peer)
            else:
                server.sendto(HEAD.pack(ECHO, number, sent_ns, time.time_ns() - came_ns), peer)


def ask(address: str, peer: str, port: str, *words: str) -> None:
    """Send each echo at its instant, whether others are back or not."""
    count, gap, wait = words
    wanted, gap_s, there = int(count), float(gap), (peer, int(port))
    trips: dict[int, float] = {}
    with _socket(address) as client:
        begin, sent = time.monotonic(), 0
        while len(trips) < wanted:
            due = begin + sent * gap_s if sent < wanted else begin + wanted * gap_s + float(wait)
            left = due - time.monotonic()
            if left > 0:
                if select.select([client], [], [], left)[0]:
                    data, came_ns, _ = _received(client)
                    _, number, sent_ns, held_ns = HEAD.unpack(data)
                    trips.setdefault(number, (came_ns - sent_ns - held_ns) / 1e9)
            elif sent < wanted:
                client.sendto(HEAD.pack(ECHO, sent, time.time_ns(), 0), there)
                sent += 1
            else:
                break
    print(json.dumps([*trips.values()]))


def burst(address: str, peer: str, port: str, *words: str) -> None:
    """Send datagrams of so many bytes at a rate in bytes per second, and ask what arrived."""
    count, size, rate, wait = words
    length, bytes_s, there = int(size), float(rate), (peer, int(port))
    number = time.monotonic_ns()
    packet = HEAD.pack(BURST, number, 0, 0).ljust(length, b"\0")
    with _socket(address) as client:
        begin = time.monotonic()
        for sent in range(int(count)):
            early = begin + sent * length / bytes_s - time.monotonic()
            if early > 0:
                time.sleep(early)
            with suppress(BlockingIOError):
                client.sendto(packet, there)
        for _ in range(ASKED):
            client.sendto(HEAD.pack(TELL, number, 0, 0), there)
            if select.select([client], [], [], float(wait))[0]:
                print(client.recv(LONGEST).decode())
                return
    print("null")


def _received(end: socket.socket) -> tuple[bytes, int, Any]:
    """A datagram, when it came, and from where."""
    data, more, _, peer = end.recvmsg(LONGEST, socket.CMSG_SPACE(STAMP.size))
    for _level, kind, content in more:
        if kind == SO_TIMESTAMPNS:
            seconds, nanoseconds = STAMP.unpack(content)
            return data, seconds * 10**9 + nanoseconds, peer
    return data, time.time_ns(), peer


def _socket(address: str, port: int = 0) -> socket.socket:
    endpoint = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with suppress(OSError):
        endpoint.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
    endpoint.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    endpoint.bind((address, port))
    return endpoint


if __name__ == "__main__":
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(PRIORITY))
    match sys.argv[1]:
        case "answer":
            answer(*sys.argv[2:])
        case "ask":
            ask(*sys.argv[2:])
        case "burst":
            burst(*sys.argv[2:])
