"""The register of columns and tables: every number has one, and every one has an owner.

A column says its type, the unit it is stored in, how a person reads it, and what its values must
satisfy.  Axis titles, report headings and the data dictionary are read from here.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from mqperf.registry import Registry

Dtype = Literal["string", "int64", "Int64", "float64", "datetime64[us, UTC]"]
Check = Literal["any", "not negative", "positive", "name"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    ``unit`` is how values are stored (SI), ``shown`` how a person reads them and ``scale`` what a
    stored value is multiplied by for that.  A ``parameter`` is what plans may vary beside the
    number of threads: a list of values for it is an axis.
    """

    name: str
    dtype: Dtype
    meaning: str
    label: str = ""
    unit: str = ""
    shown: str = ""
    scale: float = 1.0
    check: Check = "any"
    parameter: bool = False

    def heading(self, subject: str = "") -> str:
        """Heading as the published reports write it: ``latency, ms``, ``RabbitMQ CPU, %``."""
        label = " ".join(part for part in (subject, self.label or self.name) if part)
        unit = self.shown or self.unit
        return f"{label}, {unit}" if unit else label


@dataclass(frozen=True, slots=True)
class Table:
    """One table: what a row is, and the columns that it always has, in order.

    ``own`` has the meanings of columns which other tables have by the same name, too.  A ``swept``
    table has further parameters as well, those for which its rows have values.
    """

    name: str
    row: str
    columns: tuple[str, ...]
    own: Mapping[str, str]
    swept: bool = False

    def with_parameters(self, given: Iterable[str]) -> tuple[str, ...]:
        """The columns of such a table, when rows are given with these."""
        others = {*given} - {*self.columns} if self.swept else ()
        return (*self.columns, *(name for name in parameters() if name in others))

    def meaning(self, column: str) -> str:
        """What the column means in this table."""
        return self.own.get(column, COLUMNS[column].meaning)


def _text(name: str, meaning: str, label: str = "") -> Column:
    return Column(name, "string", meaning, label)


def _name(name: str, meaning: str) -> Column:
    """Text that becomes the name of folders and files."""
    return Column(name, "string", meaning, check="name")


def _count(name: str, meaning: str, label: str = "", unit: str = "msg") -> Column:
    return Column(name, "Int64", meaning, label, unit, check="not negative")


def _parameter(column: Column) -> Column:
    return replace(column, parameter=True)


def _rate(name: str, meaning: str, label: str) -> Column:
    return Column(name, "float64", meaning, label, "msg/s", "msg/sec", check="not negative")


def _latency(name: str, meaning: str, label: str) -> Column:
    return Column(name, "float64", meaning, label, "s", "ms", 1e3)


def _seconds(name: str, meaning: str, label: str, check: Check = "any") -> Column:
    return Column(name, "float64", meaning, label, "s", check=check)


def _share(name: str, meaning: str, label: str) -> Column:
    return Column(name, "float64", meaning, label, "", "%", 1e2, "not negative")


def _cpu(name: str, meaning: str, label: str) -> Column:
    return Column(name, "float64", meaning, label, "cores", "%", 1e2, "not negative")


def _traffic(name: str, meaning: str, label: str) -> Column:
    return Column(name, "float64", meaning, label, "bytes/s", "MB/s", 1e-6, "not negative")


_THREADS = Column(
    "threads", "Int64", "Green threads x client processes x client hosts.", check="positive"
)

_CORES = Column("cores", "Int64", "Hardware threads of a host.", check="positive")

_KEYS = (
    _text("run", "Name of the run folder; for a published report, of the row's source."),
    _text("point", "Id of the point of the sweep: all repeats of one case share it."),
    _name("system", "System under test."),
    _name("topology", "Who connects to which node: cmsm, cs1ss2."),
    _name("queues", "Kind of queue: classic, mirrored (the reports' HA), quorum."),
    _text("test_case", "rpc-call, rpc-cast or notify."),
    _THREADS,
    Column("repeat", "Int64", "Which repeat of the point, from 1.", check="positive"),
)

_RUNS = (
    _text("status", "done, failed, unreadable, partial, or published for a report's row."),
    _text("failure", "Why a failed run failed, or an unreadable one cannot be read."),
    _text(
        "damaged",
        "Files that are gone, have another checksum than recorded, or were never recorded.",
    ),
    _text("case", "Id of the case that the record holds; a run folder is named after it."),
    _text("content", "Digest of the instants of all its messages; no two runs share one."),
    _text(
        "record",
        "What is recorded of messages: instants of each, or counts of each second; see the"
        " methodology for what counts cannot tell.",
    ),
    Column("started", "datetime64[us, UTC]", "Start of the measured window."),
    _text("order", "Order of the sweep: listed, as the plan has it, or random."),
    Column("seed", "Int64", "Seed of the random order."),
    Column("position", "Int64", "Place in the order in which the sweep ran, from 1."),
    Column(
        "control_run",
        "Int64",
        "1, 2, 3 for the first point of a system measured again at start, middle and end, to see"
        " whether the machine drifts; 0 for all other runs. Points leave control runs out.",
        check="not negative",
    ),
    Column("green_threads", "Int64", "Green threads in each client process.", check="positive"),
    _parameter(Column("processes", "Int64", "Client processes on each host.", check="positive")),
    _parameter(Column("hosts", "Int64", "Client hosts.", check="positive")),
    _parameter(
        _seconds("asked_s", "Length of the measured window that the plan asks for.", "window asked")
    ),
    _seconds("window_s", "Length of the measured window.", "window", "not negative"),
    _parameter(
        _seconds("warmup_s", "Load before the window, as the plan asks.", "warm-up", "not negative")
    ),
    _seconds(
        "warmup_found_s",
        "Load until throughput became steady; 0 when it was from the start, empty when it never"
        " did or the run is too short to tell.",
        "warm-up found",
        "not negative",
    ),
    _parameter(_seconds("cooldown_s", "Load after the window.", "cool-down", "not negative")),
    _parameter(
        _seconds("timeout_s", "How long a client waits for a reply, or for a send.", "timeout")
    ),
    _parameter(
        _text(
            "targets", "own: each pair of client and server has its own target; or shared by all."
        )
    ),
    _text(
        "load_beside",
        "The background loads that the plan asks for: test case, generator, threads, parameters.",
        "background load",
    ),
    _seconds("drain_s", "From the end of the load until no message was left.", "drain"),
    Column("expected", "Int64", "Load generator processes expected to report."),
    Column("reported", "Int64", "Load generator processes that did report."),
    _text("system_title", "The system's name as a person writes it."),
    _text("system_version", "Version of the system under test."),
    _text("runtime_version", "Version of what it runs on: Erlang, Java."),
    _text("generator", "Load generator; empty where a report does not name it."),
    _text("generator_version", "Version of the load generator."),
    _text("python_version", "Version of the Python that the load generator ran on."),
    _text("os", "Operating system of the hosts."),
    _text("kernel", "Kernel of the hosts."),
    _text("cpu_model", "Processor of the hosts."),
    _CORES,
    Column("memory_bytes", "Int64", "Memory of each host.", unit="bytes", check="positive"),
    _text("clock_source", "Clock of the hosts' kernel."),
    _text("tcp_congestion_control", "Congestion control of TCP on the hosts."),
    Column("somaxconn", "Int64", "Connections that may wait to be accepted on a socket."),
    _text("cpu_governor", "What sets the CPU frequency of the hosts; empty when not told."),
    _seconds("clock_offset_s", "Largest clock offset between the hosts of the run.", "offset"),
    _text("network_card", "Card by which brokers were reached; loopback when all run on one host."),
    _text("network_driver", "Driver of that card; loopback has none."),
    _text("network_speed", "Speed of its link, where the kernel knows it; loopback has none."),
    _text("mqperf_version", "Version of mqperf that measured."),
)

_PARAMETERS = (
    _parameter(
        Column(
            "payload_bytes",
            "Int64",
            "Length of each message's body; empty where the generator draws it.",
            "payload",
            "bytes",
            check="positive",
        )
    ),
    _parameter(
        _seconds("pause_s", "How long a thread waits after each message.", "pause", "not negative")
    ),
    _parameter(
        Column(
            "memory_watermark_mb",
            "Int64",
            "Memory of a RabbitMQ node above which it blocks those who publish.",
            "memory watermark",
            "MB",
            check="positive",
        )
    ),
)
"""What else plans may vary: in tables only where it is said."""

_LINK = (
    _parameter(_latency("delay_s", "Delay of the link, each way.", "delay")),
    _parameter(_latency("jitter_s", "Standard deviation of the link's delay.", "jitter")),
    _parameter(_share("loss_share", "Share of packets that the link loses.", "loss")),
    _parameter(
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
"""A link as the plan asks for it."""

_MESSAGES = (
    _count("sent", "Attempts by clients, over the whole run.", "sent"),
    _count("received", "Messages handled by servers, over the whole run.", "received"),
    _count("round_trip", "Replies that clients got (CALL only).", "round-trip"),
    _count("errors", "Attempts that ended in an error at the client.", "errors"),
    Column(
        "lost",
        "Int64",
        "Attempts, each known by its start, that got neither reply nor error (CALL), or that no"
        " server received (CAST, NOTIFY), after the drain. Of a published report: as it says.",
        "lost",
        "msg",
    ),
    _count("duplicates", "Messages that servers handled more than once.", "duplicates"),
    _count(
        "foreign",
        "Messages received, replies and errors whose start no client of the run recorded as sent.",
        "foreign",
    ),
    _count(
        "causality_violations",
        "Messages finished before they were started, or answered before they were received, by"
        " more than the clocks' offset; the latter only where instants are recorded.",
        "causality violations",
    ),
    _count(
        "reordered",
        "Messages that a server received after a later one of the same sender, by their sequence"
        " numbers; empty where instants are recorded, which have none.",
        "reordered",
    ),
    _text(
        "disagreements",
        "Where the record of the messages and the simulator's own output, or the count at the"
        " drain, differ.",
    ),
    _rate(
        "throughput_msg_s",
        "Messages finished in the measured window / its length: replies for CALL, messages"
        " received for CAST and NOTIFY.",
        "throughput",
    ),
    _rate("send_rate_msg_s", "Attempts in the measured window / its length.", "send rate"),
    _rate(
        "throughput_sd_msg_s",
        "Variation over time: standard deviation of the per-second throughput in the window.",
        "standard deviation",
    ),
    _rate(
        "published_throughput_msg_s",
        "As the reports of 2016 have it: sum over processes of count / duration,"
        " of replies for CALL, of messages sent for CAST and NOTIFY.",
        "throughput (2016)",
    ),
)

_LATENCY = (
    _text("stream", "round-trip (CALL) or one-way (CAST, NOTIFY)."),
    _count("samples", "Messages whose latency was taken: started in the window.", "samples"),
    _latency("latency_mean_s", "Mean latency.", "latency"),
    _latency("latency_p50_s", "Median latency.", "p50"),
    _latency("latency_p90_s", "90th percentile of latency.", "p90"),
    _latency("latency_p95_s", "95th percentile of latency.", "p95"),
    _latency("latency_p99_s", "99th percentile of latency.", "p99"),
    _latency("latency_p999_s", "99.9th percentile of latency.", "p99.9"),
    _latency("latency_max_s", "Largest latency.", "max"),
    _latency(
        "published_latency_s",
        "As the reports of 2016 have it: unweighted mean over processes of their means.",
        "latency (2016)",
    ),
)

_INTERVALS = (
    _text("process", "Client or server process: client-1, server-1."),
    _text("stream", "sent, round-trip, error, received."),
    _text("phase", "warm-up, window or cool-down."),
    _seconds("start_s", "Start of the interval since the start of the measured window.", "time"),
    _count("count", "Messages in the interval.", "messages"),
    _latency("latency_mean_s", "Mean latency of the messages that finished in it.", "latency"),
    _latency("latency_max_s", "Largest latency of the messages that finished in it.", "max"),
)

_CPU = (
    _text("process", "Master, Slave 1, Slave 2, client-1, server-1, host, or host NAME."),
    _text("kind", "broker, client, server, background, harness or host."),
    _text("host", "Where it runs."),
    _CORES,
    _text("scope", "interval, or window for the total over the measured window."),
    _seconds("start_s", "Start since the start of the measured window.", "time"),
    _seconds("end_s", "End since the start of the measured window.", "end"),
    _cpu("total_cores", "(user + system) / time, from cumulative counters; 1 = 100 %.", "total"),
    _cpu("sys_cores", "System part of the same.", "sys"),
    Column("rss_bytes", "Int64", "Resident memory at the end.", "memory", "bytes", "MiB", 2**-20),
)

_NETWORK = (
    _text("interface", "Network interface; lo is loopback."),
    _traffic("sent_bytes_s", "Sent over the window, headers included.", "sent"),
    _traffic("received_bytes_s", "Received over the window.", "received"),
    _traffic("speed_bytes_s", "Speed of the link; empty where the kernel knows none.", "speed"),
    Column(
        "retransmitted_share",
        "float64",
        "Share of the TCP segments of the whole host that were retransmitted.",
        "retransmitted",
        "",
        "%",
        1e2,
        "not negative",
    ),
)

_EVENTS = (
    _seconds("time_s", "When, since the start of the measured window.", "time"),
    _text("host", "Where."),
    _text(
        "what",
        "provisioned, start, measured, drained, ...; alarm for one in a broker's log, unread for"
        " a record beside the run that cannot be read.",
    ),
    _text("detail", "More, as JSON."),
)

_LINKS = (
    _text("between", "The two roles that it joins.", "between"),
    _text("backend", "What made it.", "made by"),
    *(
        replace(
            column,
            name=f"{column.name.removesuffix(unit)}_{when}{unit}",
            dtype="float64",
            meaning=f"The same as measured {when} the load; empty where that cannot be measured.",
            label=f"{column.label} {when}",
            parameter=False,
        )
        for column in _LINK
        for unit in (next(end for end in ("_bits_s", "_share", "_s") if column.name.endswith(end)),)
        for when in ("before", "after")
    ),
)

_OUTAGES = (
    _text("action", "What was done: the name of the action.", "action"),
    _text("node", "Label of the node to which it was done.", "node"),
    _seconds("commanded_s", "When the plan wants it to begin.", "asked at"),
    _seconds("began_s", "When it had begun, as observed.", "began"),
    _seconds("ended_s", "When it was undone, as observed.", "ended"),
    _seconds("downtime_s", "From the one to the other.", "downtime", "not negative"),
    _seconds(
        "outage_s",
        "Longest time without a finished message that overlaps the action. Where counts are"
        " recorded, of whole seconds only: the real one may be up to 2 s longer.",
        "outage",
        "not negative",
    ),
    _rate(
        "level_msg_s",
        "Messages finished per second before the action, since the start of the window or since"
        " 3 s after the action before; empty when that is less than 1 s.",
        "throughput before",
    ),
    _seconds(
        "recovery_s",
        "From the end of the action until throughput is back at 90 % of its level before, in the"
        " next second and over the next 3 s; sought every 0.1 s, or where counts are recorded at"
        " every full second. Empty when that was not reached"
        " within the load, or the level is not known.",
        "recovery",
        "not negative",
    ),
)

_BACKGROUND = (
    Column("background", "Int64", "Which background load of the run, from 1.", check="positive"),
    _text("load", "What it is: test case, generator, threads, parameters.", "background load"),
)

_DOUBTS = (
    _text("kind", "Which check raised it."),
    _text("text", "Reason to distrust the number, as one sentence."),
    _text("evidence", "The figures used, as JSON."),
)

COUNTS = ("sent", "received", "round_trip", "lost", "errors", "duplicates")
"""The message counts of a run, as readers know them from the published reports."""

BACKGROUND = (
    "load",
    "sent",
    "received",
    "lost",
    "errors",
    "throughput_msg_s",
    "latency_mean_s",
    "latency_p50_s",
    "latency_p99_s",
)
"""What readers want to know of a background load."""

OUTAGES = ("action", "node", "began_s", "downtime_s", "outage_s", "recovery_s", "level_msg_s")
"""What readers want to know of an action."""

FIGURES = (
    "throughput_msg_s",
    "latency_mean_s",
    "latency_p50_s",
    "latency_p90_s",
    "latency_p95_s",
    "latency_p99_s",
    "latency_p999_s",
    "cpu_total_cores",
    "cpu_sys_cores",
)
"""The figures of a point that are given with their spread over repeats."""

WITHIN = tuple(name for name in FIGURES if not name.startswith("cpu_"))
"""The figures of a run that are given with an interval from within the run."""

_POINTS = (
    Column("repeats", "Int64", "Whole runs of the point.", check="not negative"),
    Column(
        "failed",
        "Int64",
        "Failed attempts at the point, and runs that cannot be read.",
        check="not negative",
    ),
    _cpu("cpu_total_cores", "CPU of all broker nodes over the window.", "CPU"),
    _cpu("cpu_sys_cores", "System part of the CPU of all broker nodes.", "CPU sys"),
)


def _threads(name: str, meaning: str, label: str) -> Column:
    return Column(name, "float64", meaning, label, check="positive")


_SATURATION_POINTS = (
    Column("points", "Int64", "Thread counts that were measured."),
    Column("fit_error", "float64", "Typical relative distance of runs from the fitted curve."),
    Column("contention", "float64", "alpha of the Universal Scalability Law: waiting for a share."),
    Column("coherency", "float64", "beta of the same: threads waiting for each other."),
    _threads(
        "peak_threads",
        "Threads at the peak of the fitted curve; empty where the law does not describe the sweep,"
        " or no peak is inside it.",
        "peak",
    ),
    _threads(
        "peak_threads_low",
        "Lower end of the 95 % interval of the peak, of the measured counts alone.",
        "peak low",
    ),
    _threads("peak_threads_high", "Upper end of it.", "peak high"),
    _threads(
        "saturation_threads",
        "Saturation point: where the bounds of a closed network cross.",
        "saturation point",
    ),
    _threads(
        "saturation_threads_low",
        "Lower end of its 95 % interval; empty when too few runs tell.",
        "saturation point low",
    ),
    _threads("saturation_threads_high", "Upper end of it.", "saturation point high"),
    _text(
        "peak_lies",
        "inside, below or beyond the sweep; plateau, when no fall after the best is more than"
        " chance; or cannot tell.",
    ),
    _text("text", "The same as a sentence."),
)

_BOTTLENECKS = (
    _text(
        "bottleneck",
        "Who ran out of CPU or network: tester, host, broker: NODE, network, none, cannot tell.",
        "bottleneck",
    ),
    _text("because", "The figures that this rests on, as one sentence."),
)

_DERIVED = (
    Column(
        "cpu_per_message_s",
        "float64",
        "CPU of all broker nodes for one finished message.",
        "CPU per message",
        "s",
        "µs",
        1e6,
        "not negative",
    ),
)
"""Figures that stand in no table of their own: comparisons name them."""

_COMPARISON = (
    _text("figure", "The column that is compared."),
    Column("value_a", "float64", "Mean over the runs of A, in the unit of the figure.", "A"),
    Column("value_b", "float64", "Mean over the runs of B.", "B"),
    Column("repeats_a", "Int64", "Whole runs of A.", "repeats of A"),
    Column("repeats_b", "Int64", "Whole runs of B.", "repeats of B"),
    Column("ratio", "float64", "B / A.", "B / A"),
    Column("ratio_low", "float64", "Lower end of its interval.", "B / A low"),
    Column("ratio_high", "float64", "Upper end of its interval.", "B / A high"),
    _text("interval_kind", "repeats; within run, which knows nothing of other runs; or none."),
    Column("p_value", "float64", "How often equals would differ by as much, by chance."),
    Column("p_adjusted", "float64", "The same, corrected for the number of comparisons."),
    Column("min_effect", "float64", "Minimum relevant difference: none below it is a verdict."),
    _text("verdict", "better (B than A), worse, or cannot tell."),
    Column(
        "detectable",
        "float64",
        "Relative difference that these repeats would show in 80 % of comparisons, were their"
        " spread known; as it is estimated, in about 70 % with three repeats and 75 % with five."
        " Only where the verdict is cannot tell, and both sides have repeats.",
    ),
    _text(
        "in_turns",
        "in turns, when runs of A and of B alternated in time: the set changes at least as often as"
        " the smaller one has runs of the point; A first or B first, when all its runs in one set"
        " precede those in the other, so that whatever changed meanwhile looks like a difference of"
        " the systems; in part, when it is neither; or not known.",
    ),
    _text("doubted", "Kinds of doubts about the point, in A and in B."),
)

_DIFFERENCES = (
    _text("what", "Heading of the column in which they differ."),
    _text("value_in_a", "Its values in A; not stated where there are none."),
    _text("value_in_b", "Its values in B."),
)


def _derived(column: Column, suffix: str, meaning: str, label: str) -> Column:
    return Column(
        f"{column.name}_{suffix}",
        "float64",
        meaning,
        f"{column.label} {label}",
        column.unit,
        column.shown,
        column.scale,
    )


def _spread(column: Column) -> tuple[Column, ...]:
    over = f"of {column.name} over the repeats; empty for a single run."
    return (
        _derived(column, "sd", f"Standard deviation {over}", "sd"),
        _derived(column, "low", f"Lower end of the 95 % interval {over}", "low"),
        _derived(column, "high", f"Upper end of the 95 % interval {over}", "high"),
    )


def _within(column: Column) -> tuple[Column, ...]:
    of = (
        f"of the 95 % interval of {column.name} from within the run, which knows nothing of other"
        " runs; empty where the window does not allow one: shorter than 20 s, not steady, or made"
        " by few seconds."
    )
    return (
        _derived(column, "within_low", f"Lower end {of}", "within low"),
        _derived(column, "within_high", f"Upper end {of}", "within high"),
    )


def _register(*groups: tuple[Column, ...]) -> dict[str, Column]:
    columns: dict[str, Column] = {}
    for column in (column for group in groups for column in group):
        known = columns.setdefault(column.name, column)
        if known.dtype != column.dtype or known.unit != column.unit:
            raise ValueError(f"column {column.name} has two owners")
    return columns


_MEASURED = _register(_MESSAGES, _LATENCY, _POINTS)
_SPREADS = tuple(extra for name in FIGURES for extra in _spread(_MEASURED[name]))
_WITHINS = tuple(extra for name in WITHIN for extra in _within(_MEASURED[name]))

_OWN = _register(
    _KEYS,
    _RUNS,
    _PARAMETERS,
    _LINK,
    _LINKS,
    _MESSAGES,
    _LATENCY,
    _INTERVALS,
    _CPU,
    _NETWORK,
    _EVENTS,
    _OUTAGES,
    _BACKGROUND,
    _POINTS,
    _SPREADS,
    _WITHINS,
    _SATURATION_POINTS,
    _BOTTLENECKS,
    _DERIVED,
    _COMPARISON,
    _DIFFERENCES,
    _DOUBTS,
)

COLUMNS = Registry("columns", _OWN.values())
"""Every column by its name; packages add those of their own parameters."""


def parameters() -> tuple[str, ...]:
    """The names of all columns that hold what plans may vary beside the number of threads."""
    return tuple(name for name, column in COLUMNS.items() if column.parameter)


def _table(
    name: str,
    row: str,
    keys: tuple[Column, ...],
    own: tuple[str, ...],
    meanings: tuple[Column, ...] = (),
) -> Table:
    told = {column.name: column.meaning for column in meanings}
    return Table(name, row, tuple(column.name for column in keys) + own, told)


def _swept(of: Table) -> Table:
    return replace(of, swept=True)


def _names(columns: tuple[Column, ...]) -> tuple[str, ...]:
    return tuple(column.name for column in columns)


def _with_intervals(columns: tuple[Column, ...]) -> tuple[str, ...]:
    """The names, each figure's followed by those of its interval from within the run."""
    return tuple(
        name
        for own in _names(columns)
        for name in (own, *(_names(_within(_MEASURED[own])) if own in WITHIN else ()))
    )


_SWEEP_KEYS = _KEYS[2:6]
_POINT_KEYS = _KEYS[1:-1]
_MEANS = tuple(
    replace(_MEASURED[name], meaning=f"Mean over the whole runs. {_MEASURED[name].meaning}")
    for name in FIGURES
)
_SATURATION_PROCESSES = replace(
    next(column for column in _RUNS if column.name == "processes"),
    meaning="Client processes on each host, where the sweep has a curve for each number of them.",
)
_POINT_FIGURES = tuple(
    name for figure in FIGURES for name in (figure, *(c.name for c in _spread(_MEASURED[figure])))
)

TABLES: Mapping[str, Table] = {
    table.name: table
    for table in (
        _swept(_table("runs", "an attempt at a case", _KEYS, _names(_RUNS))),
        _table("planned", "a run that the plan of the folder asks for", _KEYS, ("control_run",)),
        _table("messages", "a run", _KEYS, _with_intervals(_MESSAGES)),
        _table(
            "intervals",
            "a stream of a process in one second",
            _KEYS,
            _names(_INTERVALS),
            _INTERVALS,
        ),
        _table("latency", "a run and stream", _KEYS, _with_intervals(_LATENCY)),
        _table("cpu", "a process in one interval, or over the window", _KEYS, _names(_CPU), _CPU),
        _table(
            "network",
            "a network interface of a host, over the window",
            _KEYS,
            ("host", *_names(_NETWORK)),
        ),
        _table("events", "something that happened in a run", _KEYS, _names(_EVENTS), _EVENTS),
        _table("outages", "an action in a run", _KEYS, _names(_OUTAGES)),
        _table(
            "background",
            "a background load of a run",
            _KEYS,
            (
                *_names(_BACKGROUND),
                *BACKGROUND[1:],
                *("duplicates", "foreign", "causality_violations", "reordered", "disagreements"),
            ),
        ),
        _table(
            "links", "the link of a run, as asked and as measured", _KEYS, _names(_LINK + _LINKS)
        ),
        _swept(
            _table(
                "points",
                "a point of the sweep over its repeats",
                _POINT_KEYS,
                ("green_threads", "processes", "hosts", "repeats", "failed", *_POINT_FIGURES),
                _MEANS,
            )
        ),
        _table("doubts", "a reason to distrust a run's numbers", _KEYS, _names(_DOUBTS), _DOUBTS),
        _table("bottlenecks", "a run, and its bottleneck", _KEYS, _names(_BOTTLENECKS)),
        _swept(
            _table(
                "saturation_points",
                "a sweep of threads, and where it saturates",
                _SWEEP_KEYS,
                ("processes", *_names(_SATURATION_POINTS)),
                (*_SATURATION_POINTS, _SATURATION_PROCESSES),
            )
        ),
        _swept(
            _table(
                "comparison",
                "a figure of a point, in two sets of runs",
                (*_SWEEP_KEYS, _THREADS),
                _names(_COMPARISON),
            )
        ),
        _table("differences", "what two sets of runs differ in", (), _names(_DIFFERENCES)),
    )
}

COMPUTED = ("points", "doubts", "saturation_points", "bottlenecks", "comparison", "differences")
"""The tables that are computed from the others; those are read from run folders."""
