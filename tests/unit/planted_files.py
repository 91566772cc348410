"""Faults planted in the files of recorded runs, and the doubts that they must raise.

Each could come from a bug in mqperf, a driver or a file system.  Faults that change no number are
not listed: swapping the names of two threads of a process, for example, leaves the same sums.
"""

from collections.abc import Mapping

import numpy as np
from file_faults import (
    CALL,
    CAST,
    CLIENT,
    NOTIFY,
    OTHER,
    PROBE,
    SERVER,
    STOPPED,
    Fault,
    all_moved,
    all_of,
    busier,
    case,
    client_start,
    counted,
    error_added,
    event,
    exact,
    exchanged,
    facts,
    files_of,
    host,
    host_counter,
    idle,
    lines,
    logged,
    lost_and_doubled,
    moved,
    one_way_loop,
    other_speed,
    paced,
    probe,
    relabelled,
    renamed,
    reset,
    rows,
    set_clock,
    swapped,
    system,
    unread,
    whole,
    window,
)

PLANTED: Mapping[str, Mapping[str, tuple[str, Fault]]] = {
    CALL: {
        # files of another run
        "messages of a client": (
            r"unreadable-run: client-1.messages: not of this run: its load started at",
            files_of(OTHER, f"{CLIENT}.messages"),
        ),
        "messages of a server": (
            "received-not-sent: that no client of this run sent",
            files_of(OTHER, f"{SERVER}.messages"),
        ),
        "messages of a server with other replies": (
            "record-disagrees: server: .* messages recorded, .* counted by the simulator",
            files_of(OTHER, f"{SERVER}.messages"),
        ),
        "messages of another test case": (
            "unreadable-run: it is of client-1 client rpc-cast, not of client-1 client rpc-call",
            files_of(CAST, f"{CLIENT}.messages"),
        ),
        "all of the load": ("unreadable-run: its load started at", files_of(OTHER, "load")),
        "the simulator's output of a client": (
            "record-disagrees: client-1: client: .* messages recorded",
            files_of(OTHER, f"{CLIENT}.json"),
        ),
        "the simulator's output of a server": (
            "record-disagrees: server-1: server: .* messages recorded",
            files_of(OTHER, f"{SERVER}.json"),
        ),
        "the probe's log": ("probe-gap: CPU was not sampled at all", files_of(OTHER, PROBE)),
        "the probe's log, beginning elsewhere": (
            r"record-disagrees: psutil.jsonl: begins -\d+.\d s from the load",
            files_of(OTHER, PROBE),
        ),
        "the events": (
            "record-disagrees: events.jsonl: the load started at",
            files_of(OTHER, "events.jsonl"),
        ),
        "a broker's log of a later run": (
            r"record-disagrees: broker/node1.log: ends 1\d\d\.\d s after the run",
            files_of(CAST, "broker/node1.log"),
        ),
        "run.json": ("changed-record: is not named after the case", files_of(OTHER, "run.json")),
        # the window and other instants
        "the window moved by a second": (
            "unreadable-run: window.start: the load that began at",
            facts(lambda run: run.update(window={k: v + 1 for k, v in run["window"].items()})),
        ),
        "window and start moved": (
            "unreadable-run: client-1.messages: not of this run: its load started at",
            window(1),
        ),
        "window, start and clients moved": (
            "record-disagrees: events.jsonl: the load started at",
            all_of(window(1), client_start(1)),
        ),
        "the window ends after the measurement": (
            "record-disagrees: events.jsonl: measured 1.0 s before that can be",
            all_of(window(1), client_start(1), event("start", start=1795248069)),
        ),
        "all but the probe moved": (
            r"record-disagrees: psutil.jsonl: begins \+1.0 s from the load",
            all_of(window(-1), client_start(-1), event("start", start=1795248067)),
        ),
        "a shorter window": (
            "short-window: instead of 3.00 s",
            facts(lambda run: run["window"].update(end=run["window"]["end"] - 1)),
        ),
        "a longer window than asked": (
            "changed-record: is not named after the case",
            case(duration_s=4),
        ),
        "the clock was set during the run": (
            r"unreadable-run: the wall clock was set by \+0.400 s",
            probe(set_clock),
        ),
        "the clock was set between two events": (
            "unreadable-run: is not the instant",
            event("measured", epoch=1795248062.0),
        ),
        "the client's clock jumps": (
            "record-disagrees: round_trip: latency",
            exact(CLIENT, moved("round_trip", 1, 2.0, 3000)),
        ),
        "all clocks of the client are ahead": (
            "received-not-sent: that no client of this run sent",
            exact(CLIENT, all_moved(0.5)),
        ),
        # single messages
        "a reply a microsecond later": (
            "record-disagrees: round_trip: latency",
            exact(CLIENT, moved("round_trip", 1, 1e-6, 100, 101)),
        ),
        "a reply is missing": (
            "lost: 1 of .* messages were lost",
            exact(CLIENT, rows("round_trip", lambda instants: instants[1:])),
        ),
        "a reply became an error": ("client-errors: 1 of .* ended", exact(CLIENT, error_added)),
        "a reply came before its request": (
            "causality: answered before they were received",
            exact(SERVER, moved("received", 1, 1.0, 100, 101)),
        ),
        "an instant is no number": (
            "unreadable-run: is no finite number",
            exact(CLIENT, moved("sent", 0, float("nan"), 5, 6)),
        ),
        "an instant of another day": (
            "unreadable-run: has an instant far from those of the run",
            exact(CLIENT, moved("round_trip", 1, 200_000.0, 5, 6)),
        ),
        # offered rates, and components of latencies
        "a client that calls late": (
            "sender-late: % of messages were handed over more than 12 ms after they were due",
            paced(late_s=0.012),
        ),
        "service times until another reply": (
            "record-disagrees: client-1: service and round_trip differ for 4 of .* messages",
            all_of(paced(), exact(CLIENT, moved("service", 1, 0.001, -4))),
        ),
        # the simulator's counts
        "one more in a server's summary": (
            "record-disagrees: in the simulator's summary",
            counted("server", 1, series=False, summary=True),
        ),
        "one more in a server's series": (
            "record-disagrees: in its series",
            counted("server", 1, series=True, summary=False),
        ),
        "a thread's series in place of another stream's": (
            "record-disagrees: in its series",
            whole(
                f"{CLIENT}.json", lambda file: swapped(file["series"], "client_0", "round_trip_0")
            ),
        ),
        "a thread's series in place of another thread's": (
            "record-disagrees: in its series",
            whole(
                f"{CLIENT}.json",
                lambda file: file["series"].update(round_trip_0=file["series"]["round_trip_1"]),
            ),
        ),
        "a thread's series is missing": (
            "record-disagrees: in its series",
            whole(f"{CLIENT}.json", lambda file: file["series"].pop("round_trip_3")),
        ),
        # events
        "one more was sent at the drain": (
            "record-disagrees: drained: 6552 sent",
            event("drained", sent=6552),
        ),
        "one more was received at the drain": (
            "record-disagrees: drained: 6552 received",
            event("drained", received=6552),
        ),
        "an event is missing": (
            "record-disagrees: 0 events called measured",
            lines("events.jsonl", lambda events: [e for e in events if e["what"] != "measured"]),
        ),
        "no events": ("record-disagrees: no event in it", lines("events.jsonl", lambda _: [])),
        "an event of another host": (
            "record-disagrees: on host elsewhere",
            event("stopped", host="elsewhere"),
        ),
        "other processes were started": (
            "record-disagrees: were started, run.json has client-1, server-1",
            event("started", processes=["server-1", "client-9", "psutil"]),
        ),
        "an alarm in a log": (
            "broker-alarm: limit alarm set",
            logged("2026-11-21 08:01:10.000000+00:00 [warning] <0.1.0> memory limit alarm set"),
        ),
        # watched processes
        "labels of nodes exchanged in the probe's log": (
            "unreadable-run: the psutil probe watched Slave 2, Slave 1, Master",
            probe(renamed),
        ),
        "labels of nodes exchanged in run.json": (
            "unreadable-run: run.json has system.nodes Slave 2, Slave 1, Master",
            facts(relabelled),
        ),
        "readings of nodes exchanged": (
            "unreadable-run: Slave 1 was read before Master: their readings were exchanged",
            probe(exchanged),
        ),
        "a node less": (
            "unreadable-run: watched Master, Slave 1, Slave 2; run.json has system.nodes Slave 1,",
            facts(lambda run: run["system"]["nodes"].pop(0)),
        ),
        "a broker among the clients": (
            "unreadable-run: kinds: Master is no client",
            facts(lambda run: run["kinds"].update(Master="client")),
        ),
        "a process that did not report": (
            "missing-process: 1 of 2 load generator processes",
            facts(lambda run: run["processes"][1].update(reported=False)),
        ),
        "a client ended with an error": (
            "record-disagrees: client-1 ended with exit code 1",
            facts(lambda run: run["processes"][1].update(exit_code=1)),
        ),
        "a server was killed": (
            "record-disagrees: server-1 ended with exit code -9",
            facts(lambda run: run["processes"][0].update(exit_code=-9)),
        ),
        "seconds are missing in the probe's log": (
            "probe-gap: in the whole window",
            lines(PROBE, lambda samples: [*samples[:2], *samples[4:]]),
        ),
        "a node was gone": ("probe-gap: Master for 2 s", probe(unread)),
        "a node was another process": ("unreadable-run: the counters of Master fell", probe(reset)),
        "a client out of CPU": ("tester-saturated: client-1 used", busier("client-1", 0.6)),
        "more CPU than the host": ("cpu-sum: the host itself only", busier("Slave 1", 1.5)),
        "more CPU than cores": ("cpu-exceeds-cores: host used 6", host_counter(5.0)),
        "a client without CPU": ("cpu-too-low: client-1 used 0.00 s", idle("client-1")),
        "a server without CPU": ("cpu-too-low: server-1 used 0.00 s", idle("server-1")),
        "a node without CPU": ("cpu-too-low: Master used 0.00 s of CPU", idle("Master")),
        "loopback loses": ("record-disagrees: bytes sent over lo", probe(one_way_loop)),
        "a card changes its speed": ("unreadable-run: asks for once", probe(other_speed)),
        # case, machine and versions
        "other threads": ("changed-record: is not named after the case", case(green_threads=6)),
        "another test case": (
            "unreadable-run: not of server-1 server rpc-cast",
            case(test_case="rpc-cast"),
        ),
        "another cool-down": ("changed-record: named after", case(cooldown_s=2)),
        "a core less": ("mixed-hosts: hardware threads 1, in most runs 2", host(cores=1)),
        "less memory": ("mixed-hosts: memory, GiB", host(memory_bytes=2**30)),
        "another kernel": ("mixed-hosts: kernel Linux 5.4", host(kernel="Linux 5.4")),
        "another processor": ("mixed-hosts: processor Z80", host(cpu_model="Z80")),
        "another clock": ("mixed-hosts: clock source hpet", host(clock_source="hpet")),
        "another limit of the kernel": ("mixed-hosts: somaxconn 128", host(somaxconn=128)),
        "another card": ("mixed-hosts: network card eth9", host(network="eth9")),
        "another title": ("mixed-versions: name of the system R", system(title="R")),
        "another version": ("mixed-versions: version of the system 4", system(version="4")),
        "another runtime": ("mixed-versions: runtime Erlang 1", system(runtime="Erlang 1")),
        "another driver": (
            "mixed-versions: version of the load generator 1",
            facts(lambda run: run["generator"].update({"oslo.messaging": "1"})),
        ),
        "another mqperf": (
            "mixed-versions: version of mqperf 0",
            facts(lambda run: run.update(mqperf="0")),
        ),
    },
    CAST: {
        # files of another run
        "a broker's log of an earlier run": (
            r"record-disagrees: broker/node3.log: ends \d+\.\d s before the run",
            files_of(CALL, "broker/node3.log"),
        ),
        # the window and other instants
        "the server's clock is behind": (
            "causality: finished before they were started",
            exact(SERVER, moved("received", 1, -1.0)),
        ),
        "a large offset of clocks": (
            "unreadable-run: its load started at",
            facts(lambda run: run.update(clock_offsets_s={"local": 0.5})),
        ),
        # single messages
        "one received a millisecond later": (
            "record-disagrees: server: latency",
            exact(SERVER, moved("received", 1, 1e-3, 100, 101)),
        ),
        "one sent a millisecond later": (
            "received-not-sent: 1 messages were received",
            exact(CLIENT, moved("sent", 0, 1e-3, 100, 101)),
        ),
        "one was not received": (
            "lost: 1 of .* messages were lost",
            exact(SERVER, rows("received", lambda instants: instants[:-1])),
        ),
        "one was received twice": (
            "duplicates: .* copies of messages: 1 in addition to",
            exact(
                SERVER, rows("received", lambda instants: np.concatenate([instants, instants[-1:]]))
            ),
        ),
        "one was lost and another received twice": (
            "lost: 1 of .* messages were lost",
            exact(SERVER, lost_and_doubled),
        ),
        # offered rates, and components of latencies
        "a client that sends late": (
            "sender-late: % of messages were handed over more than 60 ms after they were due",
            paced(late_s=0.06),
        ),
        "a client that sends too little": (
            "rate-missed: clients sent 2793 msg/sec in the window instead of the offered 2849",
            paced(share=1.02),
        ),
        "a handover of other messages": (
            "record-disagrees: client-1: handover and sent differ for 3 of .* messages",
            all_of(paced(), exact(CLIENT, moved("handover", 0, 0.001, -3))),
        ),
        "service times from another sending": (
            "record-disagrees: server-1: service and received differ for 2 of .* messages",
            all_of(paced(), exact(CLIENT, moved("handover", 1, 0.001, -2))),
        ),
        "parts of fewer messages than there are": (
            r"unreadable-run: server-1.messages: \d+ messages in service, \d+ in received",
            all_of(paced(), exact(SERVER, rows("service", lambda instants: instants[1:]))),
        ),
        # the simulator's counts
        "one more in both of a server": (
            "record-disagrees: counted by the simulator",
            counted("server", 1, series=True, summary=True),
        ),
        "one less in both of a server": (
            "record-disagrees: counted by the simulator",
            counted("server", -1, series=True, summary=True),
        ),
        "one more in both of a client": (
            "record-disagrees: counted by the simulator",
            counted("client", 1, series=True, summary=True),
        ),
        "one less in both of a client": (
            "record-disagrees: in its log",
            counted("client", -1, series=True, summary=True),
        ),
        "log of another run": ("record-disagrees: in its log", files_of(NOTIFY, f"{SERVER}.log")),
        "another duration": (
            "record-disagrees: duration",
            whole(f"{CLIENT}.json", lambda file: file["summary"]["client"].update(duration=6.5)),
        ),
        "another latency": (
            "record-disagrees: latency",
            whole(f"{SERVER}.json", lambda file: file["summary"].update(latency=0.001)),
        ),
    },
    OTHER: {
        # the simulator's counts
        "one reply less in both of a client": (
            "record-disagrees: round_trip: latency",
            counted("round_trip", -1, series=True, summary=True),
        ),
        # watched processes
        "others on the host": ("noisy-host: do not belong to the run", host_counter(0.4)),
    },
    STOPPED: {
        # watched processes
        "others beside a node that was stopped": (
            "noisy-host: do not belong to the run used 0.45 of the 2 cores",
            host_counter(0.4),
        ),
    },
}
"""Run -> description -> expected kind and text of the doubt (as a regex), and the fault."""

UNSEEN: Mapping[str, tuple[str, str, Fault]] = {
    "a process used a little more CPU": (
        "The kernel counts each process once, and its sum with the others is known to 5 % only.",
        CALL,
        busier("Slave 1", 0.02),
    ),
}
"""Faults that cannot be detected -> the reason, the run, the fault.

Another one is not in files: a probe that got the process ids of two nodes under each other's
label, from the first run of a set on.  Process ids are not recorded.
"""
