"""Columns of what was measured: messages, latency, CPU, network, hosts and their clocks."""

from mqperf.plan.columns.column import (
    Column,
    count,
    cpu,
    latency,
    memory,
    rate,
    ratio,
    seconds,
    share,
    text,
    traffic,
)
from mqperf.plan.columns.runs import CORES
from mqperf.plan.latencies import LATENCIES, PERCENTILES

FEW = "Empty where fewer than ten messages are slower."
"""Sentence about percentiles, which ``record.streams.telling`` leaves out then."""

COUNTS = ("sent", "received", "round_trip", "lost", "errors", "duplicates")
"""The message counts of a run that the published reports have."""


def percentile_words(share: float) -> str:
    """Return the beginning of a description: ``99th percentile of``, ``Median``."""
    return "Median" if share == 0.5 else f"{share * 100:g}th percentile of"


MESSAGES = (
    count("sent", "Attempts by clients, over the whole run.", "sent"),
    count("received", "Messages handled by servers, over the whole run.", "received"),
    count(
        "deliveries",
        "Deliveries expected of the sent messages, where each is delivered several times.",
        "to be delivered",
    ),
    count("round_trip", "Replies that clients got, where servers answer.", "round-trip"),
    count("errors", "Attempts that ended in an error at the client.", "errors"),
    Column(
        "lost",
        "Int64",
        "Attempts, each known by its start, that got neither reply nor error where servers answer,"
        " or else that no server received, after the drain. Of a published report: as stated.",
        "lost",
        "msg",
    ),
    count("duplicates", "Messages that servers handled more than once.", "duplicates"),
    count(
        "foreign",
        "Messages received, replies and errors whose start no client of the run recorded as sent.",
        "foreign",
    ),
    count(
        "causality_violations",
        "Messages finished before they were started, or answered before they were received, by more"
        " than the error bound of the clocks; the latter only where instants are recorded.",
        "causality violations",
    ),
    count(
        "reordered",
        "Messages that a server received after a later one of the same sender, by their sequence"
        " numbers; empty where instants are recorded, which have none.",
        "reordered",
    ),
    text(
        "disagreements",
        "Where the record of the messages and the load generator's own output, or the count at the"
        " drain, differ.",
    ),
    rate(
        "throughput_msg_s",
        "Messages finished in the measured window / its length: replies where servers answer, else"
        " messages received.",
        "throughput",
    ),
    rate("send_rate_msg_s", "Attempts in the measured window / its length.", "send rate"),
    rate(
        "offered_rate_msg_s",
        "Mean rate in the measured window at which clients were to send; empty where they sent as"
        " fast as they could.",
        "offered in the window",
    ),
    latency(
        "handover_p99_s",
        "99th percentile of how much later than due clients handed messages to the network; empty"
        f" where no rate is offered. {FEW}",
        "handed over late, p99",
    ),
    latency(
        "handover_max_s",
        "How much later than due a client handed over a message at most.",
        "handed over late, max",
    ),
    rate(
        "throughput_sd_msg_s",
        "Variation over time: standard deviation of the per-second throughput in the window.",
        "standard deviation",
    ),
    rate(
        "published_throughput_msg_s",
        "As in the reports of 2016: sum over processes of count / duration, of replies for CALL, of"
        " messages sent for CAST and NOTIFY.",
        "throughput (2016)",
    ),
)

LATENCY = (
    text("stream", "round-trip where servers answer, else one-way."),
    count("samples", "Messages whose latency was taken: started in the window.", "samples"),
    latency("latency_mean_s", "Mean latency.", "latency"),
    *(
        latency(name, f"{percentile_words(share)} latency. {FEW}", LATENCIES[name])
        for name, share in PERCENTILES.items()
    ),
    latency("latency_max_s", "Largest latency.", "max"),
    latency(
        "service_p50_s",
        "Median time from the handing over of a message to its receipt, or its reply (CALL), where"
        f" latency counts from the instant at which it was due. {FEW}",
        "service time, p50",
    ),
    latency("service_p99_s", f"99th percentile of the service time. {FEW}", "service time, p99"),
    latency(
        "confirm_p50_s",
        f"Median time from when a message was due, or sent, to the broker's confirm. {FEW}",
        "confirm, p50",
    ),
    latency("confirm_p99_s", f"99th percentile of the same. {FEW}", "confirm, p99"),
    latency(
        "latency_uncertainty_s",
        "Error bound of each of these latencies due to the clocks of two hosts, either way; 0 where"
        " one clock took both instants, as for round trips.",
        "clock uncertainty",
    ),
    latency(
        "published_latency_s",
        "As in the reports of 2016: unweighted mean over processes of their means.",
        "latency (2016)",
    ),
)

LEVELS = (
    share(
        "percentile",
        "Share of the messages with at most this latency; as long as ten are slower.",
        "percentile",
    ),
    latency("latency_s", "The latency that this share does not exceed.", "latency"),
)

INTERVALS = (
    text("process", "Client or server process: client-1, server-1."),
    text("stream", "sent, round-trip, error, received."),
    text("phase", "warm-up, window or cool-down."),
    seconds("start_s", "Start of the interval since the start of the measured window.", "time"),
    count("count", "Messages in the interval.", "messages"),
    latency("latency_mean_s", "Mean latency of the messages that finished in it.", "latency"),
    latency("latency_max_s", "Largest latency of the messages that finished in it.", "max"),
)

CPU = (
    text("process", "Master, Slave 1, Slave 2, client-1, server-1, host, or host NAME."),
    text("kind", "broker, client, server, background, harness or host."),
    text("host", "Where it runs."),
    CORES,
    text("scope", "interval, or window for the total over the measured window."),
    seconds("start_s", "Start since the start of the measured window.", "time"),
    seconds("end_s", "End since the start of the measured window.", "end"),
    cpu(
        "total_cores",
        "(user + system) / time, from cumulative counters; 1 = 100 %. A node that is down uses 0.",
        "total",
    ),
    cpu("sys_cores", "System part of the same.", "sys"),
    cpu("stolen_cores", "Of a host: CPU that its hypervisor withheld from it.", "stolen"),
    ratio(
        "core_speed",
        "Of a host: how often a core did a fixed piece of work in a CPU second; the median.",
        "speed of a core, 1/s",
    ),
    memory("rss_bytes", "Resident memory at the end; of a host, its memory in use.", "memory"),
)

MEMORY = (
    memory("memory_used_bytes", "Most memory in use in the window.", "memory, most"),
    memory("memory_available_bytes", "Least memory that was available.", "available, least"),
    memory("swapped_in_bytes", "Read back from swap over the window.", "swapped in"),
    memory("swapped_out_bytes", "Written to swap over the window.", "swapped out"),
)

NETWORK = (
    text("interface", "Network interface; lo is loopback."),
    traffic("sent_bytes_s", "Sent over the window, headers included.", "sent"),
    traffic("received_bytes_s", "Received over the window.", "received"),
    traffic("speed_bytes_s", "Speed of the link; empty if the kernel does not know it.", "speed"),
    share(
        "retransmitted_share",
        "Share of the TCP segments of the whole host that were retransmitted; without those that"
        " had arrived already, where the probe has counted these.",
        "retransmitted",
    ),
)

_AS_IN_RUNS = (
    *("os", "kernel", "cpu_model", "cores", "memory_bytes", "clock_source"),
    "tcp_congestion_control",
)


def _clock(when: str) -> tuple[Column, ...]:
    return (
        latency(
            f"clock_offset_{when}_s",
            f"How far its clock was ahead of the controller's {when} the load.",
            f"clock {when}",
        ),
        latency(
            f"clock_bound_{when}_s",
            "Error bound of that: half of the fastest round trip that measured it.",
            f"clock {when}, ±",
        ),
    )


HOSTS: tuple[Column | str, ...] = (
    text("host", "Name of the host."),
    text("roles", "What ran there: broker, client, server."),
    text(
        "machine",
        "Digest that identifies the machine: hosts with the same one share processors and clock.",
    ),
    *_AS_IN_RUNS,
    text("network_cards", "Its network cards, each with driver and speed where known.", "network"),
    text(
        "clock_synchronised",
        "Whether its kernel reports that another clock corrects its own.",
        "clock synchronised",
    ),
    *_clock("before"),
    *_clock("after"),
    latency(
        "clock_uncertainty_s",
        "Error bound of an instant of the host, by the controller's clock.",
        "clock uncertainty",
    ),
    seconds(
        "clock_between_s",
        "Most time that can lie between both comparisons of its clock: that of the whole run.",
        "time between comparisons",
    ),
)
