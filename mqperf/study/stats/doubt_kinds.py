"""The kinds of doubt: which checks there are, and how much each matters.

``CHECKS`` has the question and the reason of each kind; the rules themselves are in
``stats.rules``.  A rule is general: it judges figures, and has no exceptions for known runs.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from mqperf.study.stats.rules import (
    beside,
    broker,
    clocks,
    counts,
    cpu,
    disturbed,
    idle,
    links,
    memory,
    network,
    offered,
    planned,
    queueing,
    record,
    speed,
    sweep,
    tester,
    together,
    window,
)
from mqperf.study.stats.rules.finding import Finding
from mqperf.study.tables import Tables

WEIGHTS = WRONG, LIMITED, NOTE = "wrong", "limited", "note"
"""How much a doubt matters, the heaviest first."""


@dataclass(frozen=True, slots=True)
class Check:
    """One kind of doubt: the question it asks of the tables, and why the answer matters.

    ``finding`` is a short statement of what is wrong where it raises a doubt.  ``weight`` is how
    much that matters: ``WRONG``, the number contradicts its records; ``LIMITED``, it describes the
    load, the tester or the host as much as the system; ``NOTE``, something else is missing.
    ``spoils`` says that it makes the throughput of a point doubtful, so that the point is never the
    headline if a sound one exists; the other doubts are about latency, CPU, or missing figures.
    """

    question: str
    reason: str
    find: Callable[[Tables], Iterable[Finding]]
    finding: str
    spoils: bool = True
    weight: str = WRONG


CHECKS: Mapping[str, Check] = {
    "failed-run": Check(
        "Did every attempt succeed?",
        "A point that succeeds only sometimes is not the same as one that always does; a failed"
        " attempt is kept as evidence.",
        counts.failed_run,
        spoils=False,
        finding="an attempt failed",
        weight=NOTE,
    ),
    "missing-run": Check(
        "Does every run that the plan asks for exist?",
        "A mean without repeats that were removed, or not measured yet, is not the planned one.",
        planned.missing_run,
        spoils=False,
        finding="runs that the plan asks for are missing",
        weight=NOTE,
    ),
    "not-of-plan": Check(
        "Does the plan of the folder ask for every point in it?",
        "Points with another window or other settings are not comparable with those of the plan:"
        " pages and notebooks show the points of one plan.",
        planned.not_of_plan,
        finding="the plan of the folder does not ask for them",
        weight=NOTE,
    ),
    "copied-run": Check(
        "Is every run a separate measurement?",
        "A copy under another name looks like a repeat that agrees, but was never measured.",
        together.copied_run,
        finding="a run is a copy of another one",
    ),
    "overlapping-runs": Check(
        "Did each run begin after the one before had ended?",
        "Concurrent runs take CPU from each other; mqperf measures one run at a time.",
        together.overlapping_runs,
        finding="a run began before the one before had ended",
    ),
    "mixed-hosts": Check(
        "Were all runs made on one machine?",
        "A difference between points may then come from the machines. Each run is compared with"
        " the facts of the majority; a fact that a run does not record is not a difference.",
        together.mixed_hosts,
        finding="not all runs were made on one machine",
        weight=LIMITED,
    ),
    "mixed-versions": Check(
        "Were all runs of a system made with the same versions?",
        "A difference between points may then come from the versions.",
        together.mixed_versions,
        finding="not all runs were made with the same versions",
        weight=LIMITED,
    ),
    "unreadable-run": Check(
        "Can every run be read?",
        "A run with a damaged file is left out completely: using half of it would give too small a"
        " number, without a visible reason.",
        record.unreadable_run,
        finding="a run cannot be read",
    ),
    "changed-record": Check(
        "Are the recorded files still what they were, in the folder of their case?",
        "A figure computed from a changed file, or without a missing file, is not what was"
        " measured.",
        record.changed_record,
        finding="recorded files were changed or are missing",
    ),
    "causality": Check(
        "Was every message sent before it was received, and received before it was answered?",
        "Clocks that disagree, or timestamps of another run, make every latency wrong, not only the"
        " negative ones.",
        record.causality,
        finding="messages were received before they were sent",
    ),
    "record-disagrees": Check(
        "Do the record of every message, the load generator's own output, the counts at the drain"
        " and the metrics of nodes agree?",
        "They record the same messages in different ways: one of them belongs to another run, or"
        " was changed, or is incomplete.",
        record.record_disagrees,
        finding="two records of the same run differ",
    ),
    "incomplete": Check(
        "Does every row have counts, throughput and latency?",
        "A missing figure is unknown, not zero: nothing finished in the window, or the report left"
        " it out.",
        counts.incomplete,
        spoils=False,
        finding="a figure is missing",
        weight=NOTE,
    ),
    "missing-process": Check(
        "Did every load generator process report?",
        "Without its share the counts and the throughput are too small, as with one failed host of"
        " five in the reports of 2016.",
        counts.missing_process,
        finding="a load generator did not report",
    ),
    "received-not-sent": Check(
        "Was every message that was received sent by a client of this run?",
        "A broker does not create messages: a client that sent them did not report, or a file"
        " belongs to another run.",
        counts.received_not_sent,
        finding="more was received than was sent",
    ),
    "roundtrip-not-received": Check(
        "Were there more replies than messages to reply to?",
        "A reply needs a message that arrived: a server's count is incomplete.",
        counts.roundtrip_not_received,
        finding="there were more replies than messages",
    ),
    "lost": Check(
        "Did every message arrive, and does the stated loss follow from the counts?",
        "Throughput with loss is not comparable with throughput without. Losses from planned"
        " actions are results, not doubts, and are left out.",
        counts.lost,
        finding="messages were lost that no action explains",
        weight=LIMITED,
    ),
    "duplicates": Check(
        "Was every message handled once?",
        "Repeated messages increase the throughput, and hide the same number of lost messages if"
        " only totals are compared.",
        counts.duplicates,
        finding="messages were handled more than once",
        weight=LIMITED,
    ),
    "negative-lost": Check(
        "Is the number of lost messages negative?",
        "More arrived than was sent: the counts are of different runs, or of different processes.",
        counts.negative_lost,
        finding="more messages arrived than were sent",
    ),
    "client-errors": Check(
        "Did every attempt end without an error?",
        "Attempts that time out block their thread for seconds, and are missing in the latency."
        " Errors from planned actions are results, not doubts, and are left out.",
        counts.client_errors,
        finding="attempts ended with an error that no action explains",
        weight=LIMITED,
    ),
    "littles-law": Check(
        "Does threads = throughput x (round trip + think time) hold for CALL?",
        "Little's law holds for any queue. Failed clients count as threads but not in the"
        " throughput; the think time is taken from the other points of the sweep. Points below"
        " saturation, or with a full host, whose counts agree, and points with less than a tenth of"
        " their threads missing, raise no doubt.",
        queueing.littles_law,
        finding="throughput, latency and threads contradict Little's law",
    ),
    "backlog": Check(
        "Is throughput x latency of one-way messages far above the number of threads?",
        "By Little's law the product is the number of messages in flight. Each thread hands over"
        " one at a time, and a message passes four places: client, two nodes, server. More than"
        " four per thread wait, in queues or on the way to one, and the latency depends on the"
        " length of the run.",
        queueing.backlog,
        finding="a backlog grew: the latency depends on the length of the run",
        weight=LIMITED,
    ),
    "unequal-rates": Check(
        "Did servers receive in the window as many one-way messages as clients sent in it, within"
        " 2 %?",
        "If more were received, a backlog of the warm-up was drained, which cannot last; if fewer,"
        " a queue grows."
        " Four messages per thread may be in flight at either end of the window. Losses from"
        " planned actions are left out.",
        window.unequal_rates,
        finding="servers received at another rate than clients sent",
        weight=LIMITED,
    ),
    "rate-missed": Check(
        "Did clients send at the offered rate, within 1 %?",
        "The point is labelled with an offered rate that the broker did not receive.",
        offered.rate_missed,
        finding="the offered rate was not sent",
        weight=LIMITED,
    ),
    "count-missed": Check(
        "Were all messages of a load by count sent?",
        "A load by count ends when all messages are sent. If its time limit ended it earlier,"
        " because the system is slower than expected, it covers only a part of them.",
        offered.count_missed,
        spoils=False,
        finding="not all messages of a load by count were sent",
        weight=NOTE,
    ),
    "sender-late": Check(
        "Were messages handed over when they were due?",
        "Latency counts from the instant at which a message is due. If clients wait for CPU, or the"
        " broker accepts no bytes, it includes that wait. Raised if the wait is above 10 ms, and"
        " above half of the latency.",
        offered.sender_late,
        spoils=False,
        finding="messages were handed over late",
        weight=LIMITED,
    ),
    "service-time": Check(
        "Does the latency of an imported run at an offered rate count from when messages were due?",
        "A tool that measures from the sending leaves out the delay of late senders (coordinated"
        " omission): the latency is too low, and a pause shows in few messages only.",
        offered.service_time,
        spoils=False,
        finding="latency counts from when messages were sent, not from when they were due",
    ),
    "senders-blocked": Check(
        "Could clients send all the time, without being blocked by the broker?",
        "A broker that is short of memory or disk blocks publishers, and serves consumers: the"
        " figures then show its limits, not its performance.",
        offered.senders_blocked,
        finding="the broker blocked the senders",
        weight=LIMITED,
    ),
    "empty-seconds": Check(
        "Was something finished in every second of the window?",
        "A mean over bursts and pauses is the rate of neither. Checked where such a pause is not"
        " chance: 20 messages were expected in it, and three for each thread that waits.",
        window.empty_seconds,
        finding="in some seconds nothing was finished",
        weight=LIMITED,
    ),
    "clock-offset": Check(
        "Are one-way latencies positive, and at least ten times the error bound of the clocks?",
        "They are differences of two clocks. Offsets are corrected; the remaining error is up to"
        " half a round trip between controller and hosts, plus the drift of the clocks.",
        clocks.clock_offset,
        spoils=False,
        finding="one-way latencies are less than ten times the error bound of the clocks",
        weight=LIMITED,
    ),
    "clock-drift": Check(
        "Did the clock of every host keep its offset to the controller's?",
        "Clocks drift by less than 500 ppm, and must not be set during a run. If a clock changes"
        " more, its offset cannot be corrected, or was measured wrongly.",
        clocks.clock_drift,
        spoils=False,
        finding="the clock of a host changed its offset",
    ),
    "cpu-sum": Check(
        "Do the nodes' CPU add up to the total, and the processes' to no more than their host's?",
        "If they differ by more than rounding, or the kernel's sampling, they are not from the same"
        " run.",
        cpu.cpu_sum,
        spoils=False,
        finding="CPU does not add up",
    ),
    "sys-exceeds-total": Check(
        "Is system CPU above the total?",
        "The total is user + system.",
        cpu.sys_exceeds_total,
        spoils=False,
        finding="system CPU is above the total",
    ),
    "cpu-exceeds-cores": Check(
        "Did a process use more CPU than its host has?",
        "A counter was reset, or two processes were counted as one.",
        cpu.cpu_exceeds_cores,
        spoils=False,
        finding="a process used more CPU than its host has",
    ),
    "cpu-too-low": Check(
        "Did every process use CPU for the messages that it handled?",
        "A process that used a twentieth of what other runs used for as many messages, or none,"
        " was not the one that was watched; its CPU then counts as that of other processes.",
        idle.cpu_too_low,
        spoils=False,
        finding="a process used too little CPU for its messages",
    ),
    "tester-saturated": Check(
        "Did the load generators have CPU left?",
        "A load generator without free CPU measures itself. A Python process runs on about one"
        " core, and is at its limit from 90 % of it on; if broker and load generator share a host"
        " with 95 % of its CPU in use, they limit each other. If other processes used that CPU as"
        " well, the doubt is noisy-host instead.",
        tester.tester_saturated,
        finding="load generators had no CPU left",
        weight=LIMITED,
    ),
    "noisy-host": Check(
        "Did processes that do not belong to the run use less than a tenth of its host's cores?",
        "CPU that others use is not available to the run: such runs were 5 to 12 % slower than the"
        " other repeats of their points. Runs without CPU records of the brokers are not checked.",
        tester.noisy_host,
        finding="other processes used the host",
        weight=LIMITED,
    ),
    "stolen-cpu": Check(
        "Did the hypervisor withhold less than a tenth of a host's cores?",
        "What a virtual machine needed while its hypervisor ran others (steal time) is not"
        " available to the run, like CPU that other processes use. Older runs do not record it:"
        " there it counts as CPU of other processes.",
        tester.stolen_cpu,
        finding="a hypervisor withheld CPU from the host",
        weight=LIMITED,
    ),
    "slower-cores": Check(
        "Were all repeats of a point measured with equally fast cores?",
        "Others on the same hardware, a lower clock rate, or heat make a core slower, often without"
        " steal time: each message then costs more CPU, and less is sustained. A fixed piece of"
        " work tells it, done once a second. Older runs do not record it.",
        speed.slower_cores,
        finding="cores were slower than in another repeat",
        weight=LIMITED,
    ),
    "swapping": Check(
        "Did hosts work without memory from swap?",
        "A process that waits for a page of its memory from the disk is as slow as the disk: the"
        " figures show a host that is short of memory. Only what was read back counts, as unused"
        " memory may well be swapped out.",
        memory.swapping,
        finding="a host read memory back from swap",
        weight=LIMITED,
    ),
    "broker-alarm": Check(
        "Is the broker's log free of alarms on memory, disk, a full link, or garbage collection?",
        "A broker that is short of resources slows senders down, or pauses for garbage collection:"
        " the figures then show its limits, not its performance.",
        broker.broker_alarm,
        finding="a broker was short of memory, disk or bandwidth",
        weight=LIMITED,
    ),
    "presettled-dropped": Check(
        "Did routers forward every pre-settled message?",
        "A router that cannot keep up may silently drop such messages: the received rate is then"
        " what it forwarded, not what was sent.",
        broker.presettled_dropped,
        finding="routers dropped pre-settled messages",
        weight=LIMITED,
    ),
    "node-frozen": Check(
        "Did every broker node run all the time?",
        "A node that is stopped (SIGSTOP, a debugger) does not work: the figures then show the"
        " pause, not the broker.",
        broker.node_frozen,
        finding="a broker node was stopped",
        weight=LIMITED,
    ),
    "unread-record": Check(
        "Can the records of nodes on other hosts, beside the runs, be read?",
        "CPU of those nodes is unknown in every run; all other figures are valid.",
        cpu.unread_record,
        spoils=False,
        finding="the record of a node cannot be read",
        weight=NOTE,
    ),
    "action-late": Check(
        "Did every action begin at the planned time?",
        "An action at another time disturbs another load: the machine was too busy to act in time.",
        disturbed.action_late,
        finding="an action began late",
        weight=LIMITED,
    ),
    "not-recovered": Check(
        "Did throughput recover after every action, before the load ended?",
        "The recovery time is not known, only that it is longer than the measurement.",
        disturbed.not_recovered,
        spoils=False,
        finding="throughput was not seen to recover after an action",
        weight=NOTE,
    ),
    "pause-by-chance": Check(
        "Did enough messages arrive before every action to tell a pause from chance?",
        "Outage and recovery are then gaps between single messages, as without an action.",
        disturbed.pause_by_chance,
        spoils=False,
        finding="too few messages to tell a pause after an action from chance",
        weight=LIMITED,
    ),
    "background-load": Check(
        "Was every background load as planned?",
        "The figures are those of a system under another load than the plan says.",
        beside.background_load,
        finding="the background load was not as planned",
    ),
    "link-not-as-asked": Check(
        "Was every link as planned, before and after the load, and by its packets?",
        "The run shows the effect of another network than the planned one.",
        links.link_not_as_asked,
        finding="the link was not as planned",
    ),
    "network-bytes": Check(
        "Did networks carry as many bytes as the messages hold, and receive what was sent?",
        "Counters that contradict the messages are of another network, or of another run. Checked"
        " for loopback where all is on one host, for the hosts of clients and servers where these"
        " are apart, and for all hosts of one machine together.",
        network.network_bytes,
        spoils=False,
        finding="network counters contradict the messages",
    ),
    "probe-gap": Check(
        "Was every process sampled through the whole window?",
        "CPU of the missing seconds is unknown: the process ended, or the machine was suspended.",
        cpu.probe_gap,
        spoils=False,
        finding="a process was not sampled through the whole window",
        weight=NOTE,
    ),
    "missing-node": Check(
        "Is there a record of every node of the topology?",
        "The nodes' CPU together is too small without one of them.",
        cpu.missing_node,
        spoils=False,
        finding="there is no record of a node",
    ),
    "short-window": Check(
        "Is the measured window as long as planned?",
        "The run ended early, and is less certain than the others; or the window was changed after"
        " the run.",
        counts.short_window,
        finding="the window has another length than planned",
        weight=LIMITED,
    ),
    "spread": Check(
        "Is every repeat of a point within 10 % of their median?",
        "If repeats of one point differ that much, points differ as much by chance. With two"
        " repeats, their difference counts.",
        sweep.spread,
        finding="repeats differ by more than 10 %",
        weight=LIMITED,
    ),
    "peak-at-edge": Check(
        "Does the best throughput lie inside the sweep?",
        "At the edge it is only a lower bound: more, or fewer, threads might give more.",
        sweep.peak_at_edge,
        spoils=False,
        finding="the best throughput is at the edge of the sweep",
        weight=NOTE,
    ),
    "drift": Check(
        "Does throughput stay the same from the start of the sweep to its end?",
        "If the same points change with time, so do the others, and the order of the sweep affects"
        " its curve.",
        sweep.drift,
        spoils=False,
        finding="throughput changed from the start of the sweep to its end",
        weight=LIMITED,
    ),
}
"""Kind -> check, in the order in which they are shown."""


SPOILING = frozenset(kind for kind, check in CHECKS.items() if check.spoils)
"""The kinds of doubt with which a point is never the headline if a sound point exists."""

SPREAD = "spread"
"""The kind of doubt that repeats differ; an interval over repeats shows that as well."""

SPOILING_RATIOS = SPOILING - {SPREAD}
"""The kinds of doubt that make a ratio of throughputs doubtful."""


def weight_of(kind: str) -> str:
    """The weight of a kind of doubt; those about the wording of a published report are notes."""
    return CHECKS[kind].weight if kind in CHECKS else NOTE


WHOLE = (
    *("not-of-plan", "copied-run", "overlapping-runs"),
    *("unreadable-run", "changed-record", "causality", "record-disagrees"),
)
"""The kinds that check everything in a folder; the others check the runs that its plan asks for.

A changed record may be why a run does not belong to the plan.
"""
