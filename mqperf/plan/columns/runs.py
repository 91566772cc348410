"""Columns that identify the run and point of a row, and describe how and on what it ran."""

from mqperf.plan.columns.column import (
    Column,
    count,
    latency,
    name,
    number,
    parameter,
    seconds,
    share,
    text,
)

THREADS = number("threads", "Green threads x client processes x client hosts.")

CORES = number("cores", "Hardware threads of a host.", "hardware threads")

KEY_COLUMNS = (
    text("run", "Name of the run folder; for a published report, of the row's source."),
    text("point", "Id of the point of the sweep: all repeats of one case share it."),
    name("system", "System under test."),
    name("topology", "Who connects to which node, such as cmsm and cs1ss2."),
    name("queues", "Kind of queue: classic, mirrored (the reports' HA), quorum, stream."),
    text("test_case", "What is measured: rpc-call, rpc-cast, notify, or another test case."),
    THREADS,
    number("repeat", "Which repeat of the point, from 1."),
)

RUNS: tuple[Column | str, ...] = (
    text("status", "done, failed, unreadable, partial, or published for a report's row."),
    text("failure", "Why a failed run failed, or an unreadable one cannot be read."),
    text(
        "condition_failed",
        "The fail condition of the plan that ended the run early, with its figures; empty where"
        " none did. All other figures are of the window that it had.",
        "ended early",
    ),
    seconds(
        "all_sent_s",
        "From the start of a load by count until its last thread had sent all messages; empty"
        " otherwise. The window ends with the last whole second in which every thread was sending.",
        "all sent after",
    ),
    text(
        "damaged",
        "Files that are gone, have another checksum than recorded, or were never recorded.",
    ),
    text("case", "Id of the case that the record holds; a run folder is named after it."),
    text("content", "Digest of the instants of all its messages; no two runs share one."),
    text(
        "record",
        "What is recorded of messages: instants of each, or counts of each second; see the"
        " methodology for what counts cannot tell.",
    ),
    Column("started", "datetime64[us, UTC]", "Start of the measured window."),
    text(
        "order", "Order of the sweep: listed, as the plan has it, or random.", "order of the sweep"
    ),
    Column("seed", "Int64", "Seed of the random order."),
    Column("position", "Int64", "Place in the order in which the sweep ran, from 1."),
    count(
        "control_run",
        "1, 2, 3 for the first point of a system measured again at start, middle and end, to see"
        " whether the machine drifts; 0 for all other runs. Where tables are complete,"
        " control runs have a table of their own.",
        unit="",
    ),
    number(
        "green_threads",
        "Green threads in each client process.",
        "green threads in a client process",
    ),
    parameter(number("processes", "Client processes on each host.")),
    parameter(number("hosts", "Client hosts.")),
    parameter(seconds("asked_s", "Length of the measured window in the plan.", "planned window")),
    seconds("window_s", "Length of the measured window.", "window", "not negative"),
    parameter(
        seconds("warmup_s", "Load before the window, as the plan asks.", "warm-up", "not negative")
    ),
    seconds(
        "warmup_found_s",
        "Load until throughput became steady; 0 when it was from the start, empty when it never"
        " did, the run is too short to tell, or the plan changes its rate. The time after the first"
        " action of a plan is left out.",
        "warm-up found",
        "not negative",
    ),
    parameter(seconds("cooldown_s", "Load after the window.", "cool-down", "not negative")),
    parameter(
        seconds("timeout_s", "How long a client waits for a reply, or for a send.", "timeout")
    ),
    "targets",
    text(
        "load_beside",
        "The background loads that the plan asks for: test case, generator, threads, parameters.",
        "background load",
    ),
    seconds("drain_s", "From the end of the load until no message was left.", "drain"),
    Column("expected", "Int64", "Load generator processes expected to report."),
    Column("reported", "Int64", "Load generator processes that did report."),
    text("system_title", "The system's name as shown to people.", "name of the system"),
    text("system_version", "Version of the system under test.", "version of the system"),
    text("runtime_version", "Version of what it runs on: Erlang, Java.", "version of its runtime"),
    parameter(text("generator", "Load generator; empty where a report does not name it.")),
    text("generator_version", "Version of the load generator.", "version of the load generator"),
    text(
        "python_version",
        "Version of the Python that the load generator ran on.",
        "Python of the load generator",
    ),
    text("os", "Operating system of the hosts.", "operating system"),
    text("kernel", "Kernel of the hosts."),
    text("cpu_model", "Processor of the hosts.", "processor"),
    CORES,
    Column("memory_bytes", "Int64", "Memory of each host.", "memory", "bytes", check="positive"),
    text("clock_source", "Clock of the hosts' kernel.", "clock source"),
    text(
        "tcp_congestion_control",
        "Congestion control of TCP on the hosts: on a link that loses packets it decides the"
        " throughput.",
        "TCP congestion control",
    ),
    Column("somaxconn", "Int64", "Connections that may wait to be accepted on a socket."),
    text(
        "cpu_governor",
        "What sets the CPU frequency of the hosts; empty if not known.",
        "CPU frequency governor",
    ),
    seconds("clock_offset_s", "Largest clock offset between the hosts of the run.", "clock offset"),
    text(
        "network_card",
        "Card by which brokers were reached; loopback when all run on one host.",
        "network card",
    ),
    text("network_driver", "Driver of that card; loopback has none.", "driver of the network card"),
    text(
        "network_speed",
        "Speed of its link, where the kernel knows it; loopback has none.",
        "speed of the network card",
    ),
    text("mqperf_version", "Version of mqperf that measured.", "version of mqperf"),
)


CONDITION = parameter(
    text("condition", "Name of the condition under which it is measured.", "condition")
)
"""The condition of a plan under which a point is measured."""

SETTINGS = (
    parameter(
        text(
            "version",
            "Version of the system that the plan asks for; empty for the installed one.",
            "version",
        )
    ),
    parameter(text("tls", "true where clients connect by TLS, false where not.", "TLS")),
    parameter(
        Column(
            "memory_watermark_mb",
            "Int64",
            "Memory of a RabbitMQ node above which it blocks publishers.",
            "memory watermark",
            "MB",
            check="positive",
        )
    ),
)
"""Settings of systems that plans may vary."""

OF_SYSTEM = ("system_title", "system_version", "runtime_version")
"""Columns among ``VERSIONS`` that are about the system."""

VERSIONS = (
    *OF_SYSTEM,
    *("generator_version", "python_version", "mqperf_version"),
)
"""Columns of ``runs`` with the versions of what was measured, and of what measured it."""

LINK = (
    parameter(latency("delay_s", "Delay of the link, each way.", "delay")),
    parameter(latency("jitter_s", "Standard deviation of the link's delay.", "jitter")),
    parameter(share("loss_share", "Share of packets that the link loses.", "loss")),
    parameter(
        Column(
            "bandwidth_bits_s",
            "float64",
            "Bandwidth of the link, each way; empty where it is not limited.",
            "bandwidth",
            "bits/s",
            "Mbit/s",
            1e-6,
            "positive",
        )
    ),
)
"""Columns of a link as the plan requests it."""
