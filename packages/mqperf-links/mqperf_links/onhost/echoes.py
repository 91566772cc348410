"""Measure a link by datagrams: echoes of single ones, and how fast many of them arrive.

``answer ADDRESS PORT`` echoes datagrams, and counts those of a burst, until it is killed.  ``ask
ADDRESS PEER PORT COUNT GAP WAIT`` prints the round trips in seconds as JSON.  ``burst ADDRESS PEER
PORT COUNT SIZE RATE WAIT`` prints how many datagrams arrived, and the seconds from first to last.
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
"""Kind, number of the echo or burst, send time, and how long the other end held the echo.

Times are nanoseconds.  Arrival times are the kernel's, so that a busy machine, on which programs
wait for their turn, is not taken for a slow link.
"""

SO_TIMESTAMPNS, SO_RCVBUFFORCE = 35, 33
STAMP = struct.Struct("@qq")

LONGEST = 1 << 16
BUFFER_BYTES = 32 << 20
PRIORITY = 1
"""Real-time priority, where permitted, so that a busy machine is not taken for a slow link."""

REQUESTS = 20
"""How often the other end is asked what arrived: an answer may be lost."""


def answer(address: str, port: str) -> None:
    """Echo and count datagrams until killed."""
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


def ask(address: str, peer: str, port: str, *numbers: str) -> None:
    """Send each echo at its instant, whether others are back or not; print the round trips."""
    count, gap, wait = int(numbers[0]), float(numbers[1]), float(numbers[2])
    server = peer, int(port)
    trips: dict[int, float] = {}
    with _socket(address) as client:
        begin, sent = time.monotonic(), 0
        while len(trips) < count:
            due = begin + sent * gap if sent < count else begin + count * gap + wait
            remaining = due - time.monotonic()
            if remaining > 0:
                if select.select([client], [], [], remaining)[0]:
                    data, came_ns, _ = _received(client)
                    _, number, sent_ns, held_ns = HEAD.unpack(data)
                    trips.setdefault(number, (came_ns - sent_ns - held_ns) / 1e9)
            elif sent < count:
                client.sendto(HEAD.pack(ECHO, sent, time.time_ns(), 0), server)
                sent += 1
            else:
                break
    print(json.dumps([*trips.values()]))


def burst(address: str, peer: str, port: str, *numbers: str) -> None:
    """Send datagrams of a size at a rate in bytes per second; ask, and print, what arrived."""
    count, size, rate, wait = numbers
    length, bytes_s, server = int(size), float(rate), (peer, int(port))
    number = time.monotonic_ns()
    packet = HEAD.pack(BURST, number, 0, 0).ljust(length, b"\0")
    with _socket(address) as client:
        begin = time.monotonic()
        for sent in range(int(count)):
            early = begin + sent * length / bytes_s - time.monotonic()
            if early > 0:
                time.sleep(early)
            with suppress(BlockingIOError):
                client.sendto(packet, server)
        for _ in range(REQUESTS):
            client.sendto(HEAD.pack(TELL, number, 0, 0), server)
            if select.select([client], [], [], float(wait))[0]:
                print(client.recv(LONGEST).decode())
                return
    print("null")


def _received(end: socket.socket) -> tuple[bytes, int, Any]:
    """Receive a datagram; return it with its arrival time in ns and its sender."""
    data, ancillary, _, peer = end.recvmsg(LONGEST, socket.CMSG_SPACE(STAMP.size))
    for _level, kind, content in ancillary:
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
