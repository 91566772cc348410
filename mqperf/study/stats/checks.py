"""Doubts: every reason to distrust a number, in one table.

``CHECKS`` says of each kind what it asks and why; the rules themselves are in ``stats.rules``.  A
rule is general: it knows figures, never rows.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import pandas as pd

from mqperf.plan.columns import TABLES
from mqperf.study.stats.rules import (
    beside,
    broker,
    clocks,
    counts,
    cpu,
    disturbed,
    idle,
    links,
    network,
    offered,
    planned,
    queueing,
    record,
    sweep,
    tester,
    together,
    window,
)
from mqperf.study.stats.rules.finding import Finding, with_measured
from mqperf.study.tables import Tables, at, conform, empty, of_plan, varied
from mqperf.study.tables.axis_words import worded

SHOWN = ("system", "topology", "queues", "test_case", "threads", "run", "kind", "text")
"""What a JSON line holds beside the evidence."""


@dataclass(frozen=True, slots=True)
class Check:
    """One kind of doubt: the question it asks of the tables, and why the answer matters.

    ``spoils`` says that it makes the throughput of a point doubtful, so that the point is never the
    headline if a sound one exists; the other doubts are about latency or CPU, or about what is
    missing.
    """

    question: str
    reason: str
    find: Callable[[Tables], Iterable[Finding]]
    spoils: bool = True


CHECKS: Mapping[str, Check] = {
    "failed-run": Check(
        "Did every attempt succeed?",
        "A point that succeeds only sometimes is not the same as one that always does; a failed"
        " attempt is kept as evidence.",
        counts.failed_run,
        spoils=False,
    ),
    "missing-run": Check(
        "Does every run exist that the plan asks for?",
        "A mean without repeats that were removed, or not measured yet, is not the planned one.",
        planned.missing_run,
        spoils=False,
    ),
    "not-of-plan": Check(
        "Does the plan of the folder ask for every point in it?",
        "Points with another window or other settings are not comparable with those of the plan:"
        " pages and notebooks show the points of one plan.",
        planned.not_of_plan,
    ),
    "copied-run": Check(
        "Is every run a separate measurement?",
        "A copy under another name looks like a repeat that agrees, but was never measured.",
        together.copied_run,
    ),
    "overlapping-runs": Check(
        "Did each run begin after the one before had ended?",
        "Concurrent runs take CPU from each other; mqperf measures one run at a time.",
        together.overlapping_runs,
    ),
    "mixed-hosts": Check(
        "Were all runs made on one machine?",
        "A difference between points may then come from the machines. Each run is compared with"
        " the facts of the majority; a fact that a run does not record is not a difference.",
        together.mixed_hosts,
    ),
    "mixed-versions": Check(
        "Were all runs of a system made with the same versions?",
        "A difference between points may then come from the versions.",
        together.mixed_versions,
    ),
    "unreadable-run": Check(
        "Can every run be read?",
        "A run with a damaged file is left out completely: using half of it would give too small a"
        " number, without a visible reason.",
        record.unreadable_run,
    ),
    "changed-record": Check(
        "Are the recorded files still what they were, in the folder of their case?",
        "A figure computed from a changed file, or without a missing file, is not what was"
        " measured.",
        record.changed_record,
    ),
    "causality": Check(
        "Was every message sent before it was received, and received before it was answered?",
        "Clocks that disagree, or timestamps of another run, make every latency wrong, not only the"
        " negative ones.",
        record.causality,
    ),
    "record-disagrees": Check(
        "Do the record of every message, the load generator's own output, the counts at the drain"
        " and what nodes reported of their inside agree?",
        "They record the same messages in different ways: one of them belongs to another run, or"
        " was changed, or is incomplete.",
        record.record_disagrees,
    ),
    "incomplete": Check(
        "Does every row have counts, throughput and latency?",
        "A missing figure is unknown, not zero: nothing finished in the window, or the report left"
        " it out.",
        counts.incomplete,
        spoils=False,
    ),
    "missing-process": Check(
        "Did every load generator process report?",
        "Without its share the counts and the throughput are too small, as with one failed host of"
        " five in the reports of 2016.",
        counts.missing_process,
    ),
    "received-not-sent": Check(
        "Was every message that was received sent by a client of this run?",
        "A broker does not create messages: a client that sent them did not report, or a file"
        " belongs to another run.",
        counts.received_not_sent,
    ),
    "roundtrip-not-received": Check(
        "Were there more replies than messages to reply to?",
        "A reply needs a message that arrived: a server's count is incomplete.",
        counts.roundtrip_not_received,
    ),
    "lost": Check(
        "Did every message arrive, and does the stated loss follow from the counts?",
        "Throughput with loss is not comparable with throughput without. Losses from planned"
        " actions are results, not doubts, and are left out.",
        counts.lost,
    ),
    "duplicates": Check(
        "Was every message handled once?",
        "Repeated messages increase the throughput, and hide the same number of lost messages if"
        " only totals are compared.",
        counts.duplicates,
    ),
    "negative-lost": Check(
        "Is the number of lost messages negative?",
        "More arrived than was sent: the counts are of different runs, or of different processes.",
        counts.negative_lost,
    ),
    "client-errors": Check(
        "Did every attempt end without an error?",
        "Attempts that time out block their thread for seconds, and are missing in the latency."
        " Errors from planned actions are results, not doubts, and are left out.",
        counts.client_errors,
    ),
    "littles-law": Check(
        "Does threads = throughput x (round trip + think time) hold for CALL?",
        "Little's law holds for any queue. Failed clients count as threads but not in the"
        " throughput; the think time is taken from the other points of the sweep. Points below"
        " saturation whose counts agree, and points with less than a tenth of their threads"
        " missing, raise no doubt.",
        queueing.littles_law,
    ),
    "backlog": Check(
        "Is throughput x latency of one-way messages far above the number of threads?",
        "By Little's law the product is the number of messages in flight. Each thread hands over"
        " one at a time, and a message passes four places: client, two nodes, server. More than"
        " four per thread wait, in queues or on the way to one, and the latency depends on the"
        " length of the run.",
        queueing.backlog,
    ),
    "unequal-rates": Check(
        "Did servers receive in the window as many one-way messages as clients sent in it, within"
        " 2 %?",
        "If more were received, a backlog of the warm-up was drained, which cannot last; if fewer,"
        " a queue grows."
        " Four messages per thread may be in flight at either end of the window. Losses from"
        " planned actions are left out.",
        window.unequal_rates,
    ),
    "rate-missed": Check(
        "Did clients send at the offered rate, within 1 %?",
        "The point is labelled with an offered rate that the broker did not receive.",
        offered.rate_missed,
    ),
    "count-missed": Check(
        "Were all messages of a load by count sent?",
        "A load by count ends when all messages are sent. If its time limit ended it earlier,"
        " because the system is slower than expected, it covers only a part of them.",
        offered.count_missed,
        spoils=False,
    ),
    "sender-late": Check(
        "Were messages handed over when they were due?",
        "Latency counts from the instant at which a message is due. If clients wait for CPU, or the"
        " broker accepts no bytes, it includes that wait. Raised if the wait is above 10 ms, and"
        " above half of the latency.",
        offered.sender_late,
        spoils=False,
    ),
    "service-time": Check(
        "Does the latency of an imported run at an offered rate count from when messages were due?",
        "A tool that measures from the sending leaves out the delay of late senders (coordinated"
        " omission): the latency is too low, and a pause shows in few messages only.",
        offered.service_time,
        spoils=False,
    ),
    "senders-blocked": Check(
        "Could clients send all the time, without being blocked by the broker?",
        "A broker that is short of memory or disk blocks publishers, and serves consumers: the"
        " figures then show its limits, not its performance.",
        offered.senders_blocked,
    ),
    "empty-seconds": Check(
        "Was something finished in every second of the window?",
        "A mean over bursts and pauses is the rate of neither. Checked where chance leaves no time"
        " so long without a message: 20 would have come in it, and three for each thread that"
        " waits.",
        window.empty_seconds,
    ),
    "clock-offset": Check(
        "Are one-way latencies positive, and at least ten times the error bound of the clocks?",
        "They are differences of two clocks. Offsets are corrected; the remaining error is up to"
        " half a round trip between controller and hosts, plus the drift of the clocks.",
        clocks.clock_offset,
        spoils=False,
    ),
    "clock-drift": Check(
        "Did the clock of every host keep its offset to the controller's?",
        "Clocks drift by less than 500 ppm, and must not be set during a run. If a clock changes"
        " more, its offset cannot be corrected, or was measured wrongly.",
        clocks.clock_drift,
        spoils=False,
    ),
    "cpu-sum": Check(
        "Do the nodes' CPU add up to the total, and the processes' to no more than their host's?",
        "If they differ by more than rounding, or the kernel's sampling, they are not from the same"
        " run.",
        cpu.cpu_sum,
        spoils=False,
    ),
    "sys-exceeds-total": Check(
        "Is system CPU above the total?",
        "The total is user + system.",
        cpu.sys_exceeds_total,
        spoils=False,
    ),
    "cpu-exceeds-cores": Check(
        "Did a process use more CPU than its host has?",
        "A counter was reset, or two processes were counted as one.",
        cpu.cpu_exceeds_cores,
        spoils=False,
    ),
    "cpu-too-low": Check(
        "Did every process use CPU for the messages that it handled?",
        "A process that did as much for a twentieth of the CPU, or for none, was not the one that"
        " was watched; what it used then looks like the CPU of others.",
        idle.cpu_too_low,
        spoils=False,
    ),
    "tester-saturated": Check(
        "Did the load generators have CPU left?",
        "A load generator without free CPU measures itself. A Python process runs on about one"
        " core, and is at its limit from 90 % of it on; if broker and load generator share a host"
        " with 95 % of its CPU in use, they limit each other. If other processes used that CPU as"
        " well, the doubt is noisy-host instead.",
        tester.tester_saturated,
    ),
    "noisy-host": Check(
        "Did processes that do not belong to the run use less than a tenth of its host's cores?",
        "CPU that others use is not available to the run: such runs were 5 to 12 % slower than the"
        " other repeats of their points. Steal time of a hypervisor counts as others'. Runs without"
        " CPU records of the brokers are not checked.",
        tester.noisy_host,
    ),
    "broker-alarm": Check(
        "Is the broker's log free of alarms on memory, disk, a full link, or garbage collection?",
        "A broker that is short of resources slows senders down, or pauses for garbage collection:"
        " the figures then show its limits, not its performance.",
        broker.broker_alarm,
    ),
    "presettled-dropped": Check(
        "Did routers forward every pre-settled message?",
        "A router that cannot keep up may silently drop such messages: the received rate is then"
        " what it forwarded, not what was sent.",
        broker.presettled_dropped,
    ),
    "node-frozen": Check(
        "Did every broker node run all the time?",
        "A node that is stopped (SIGSTOP, a debugger) does not work: the figures then show the"
        " pause, not the broker.",
        broker.node_frozen,
    ),
    "unread-record": Check(
        "Can the records of nodes on other hosts, beside the runs, be read?",
        "CPU of those nodes is unknown in every run; all other figures are valid.",
        cpu.unread_record,
        spoils=False,
    ),
    "action-late": Check(
        "Did every action begin at the planned time?",
        "An action at another time disturbs another load: the machine was too busy to act in time.",
        disturbed.action_late,
    ),
    "not-recovered": Check(
        "Did throughput recover after every action, before the load ended?",
        "The recovery time is not known, only that it is longer than the measurement.",
        disturbed.not_recovered,
        spoils=False,
    ),
    "background-load": Check(
        "Was every background load as planned?",
        "The figures are those of a system under another load than the plan says.",
        beside.background_load,
    ),
    "link-not-as-asked": Check(
        "Was every link as planned, before and after the load, and by its packets?",
        "The run shows the effect of another network than the planned one.",
        links.link_not_as_asked,
    ),
    "network-bytes": Check(
        "Did networks carry as many bytes as the messages hold, and receive what was sent?",
        "Counters that contradict the messages are of another network, or of another run. Asked of"
        " loopback where all is on one host, of the hosts of clients and servers where these are"
        " apart, and of all hosts of one machine together.",
        network.network_bytes,
        spoils=False,
    ),
    "probe-gap": Check(
        "Was every process sampled through the whole window?",
        "CPU of the missing seconds is unknown: the process ended, or the machine was suspended.",
        cpu.probe_gap,
        spoils=False,
    ),
    "missing-node": Check(
        "Is something recorded of every node of the network that the topology is?",
        "The nodes' CPU together is too small without one of them.",
        cpu.missing_node,
        spoils=False,
    ),
    "short-window": Check(
        "Is the measured window as long as planned?",
        "The run ended early, and is less certain than the others; or the window was changed after"
        " the run.",
        counts.short_window,
    ),
    "spread": Check(
        "Is every repeat of a point within 10 % of their median?",
        "If repeats of one point differ that much, points differ as much by chance. With two"
        " repeats, their difference counts.",
        sweep.spread,
    ),
    "peak-at-edge": Check(
        "Does the best throughput lie inside the sweep?",
        "At the edge it is only a lower bound: more, or fewer, threads might give more.",
        sweep.peak_at_edge,
        spoils=False,
    ),
    "drift": Check(
        "Does throughput stay the same from the start of the sweep to its end?",
        "If the same points change with time, so do the others, and the order of the sweep affects"
        " its curve.",
        sweep.drift,
        spoils=False,
    ),
}
"""Kind -> check, in the order in which a reader should hear of them."""


SPOILING = frozenset(kind for kind, check in CHECKS.items() if check.spoils)
"""The kinds of doubt with which a point is never the headline if a sound point exists."""

WHOLE = (
    *("not-of-plan", "copied-run", "overlapping-runs"),
    *("unreadable-run", "changed-record", "causality", "record-disagrees"),
)
"""The kinds that look at everything in a folder; the others at what its plan asks for.

A record that was changed may be why its run is none of the plan.
"""


def doubts(tables: Tables) -> pd.DataFrame:
    """Everything that the checks find, one row per run and kind of doubt.

    Doubts that came with the tables, such as those about a report's wording, are not repeated.
    """
    everything, planned_only = with_measured(tables), with_measured(of_plan(tables))
    rows = [
        {"run": found.run, "kind": kind, "text": found.text, "evidence": json.dumps(found.evidence)}
        for kind, check in CHECKS.items()
        for found in check.find(everything if kind in WHOLE else planned_only)
    ]
    if not rows:
        return empty("doubts")
    found = pd.DataFrame(rows).merge(_keys(tables), on="run", how="left")
    return conform("doubts", found)


def _keys(tables: Tables) -> pd.DataFrame:
    """Where in the sweep each run belongs, those that the plan asks for and nobody has, too.

    A control run belongs to its system, and to no point.
    """
    runs = tables["runs"]
    names = [name for name in TABLES["doubts"].columns if name in runs.columns]
    ordinary = ~runs["control_run"].fillna(0).gt(0)
    places = [name for name in names if name not in ("run", "system")]
    runs = runs[names].assign(**{name: runs[name].where(ordinary) for name in places})
    planned = tables.get("planned")
    if planned is None or planned.empty:
        return runs
    return pd.concat([runs, planned.loc[~planned["run"].isin(runs["run"]), names]])


def as_json_lines(doubts: pd.DataFrame) -> Iterator[str]:
    """One JSON object per doubt: the point, the run, the kind, the text, the figures used."""
    for row in doubts.to_dict("records"):
        evidence = _plain(row["evidence"])
        line = {
            **{name: _plain(row[name]) for name in SHOWN},
            "evidence": json.loads(str(evidence)) if evidence is not None else {},
        }
        yield json.dumps(line)


def as_text_lines(tables: Tables) -> Iterator[str]:
    """One line per doubt, as a person reads it; one line as well when there is none.

    It names the parameters that tell points of these tables apart; of a point of which no run is
    there they are not known.
    """
    doubts, runs = tables["doubts"], tables["runs"]
    control = tables["control_runs"].set_index("run")["control_run"].to_dict()
    if doubts.empty:
        yield "no doubts"
    names = list(varied(runs))
    values = runs.dropna(subset=["point"]).groupby("point")[names].first().to_dict("index")
    for row in doubts.to_dict("records"):
        words = [_plain(row[name]) for name in SHOWN[:4]]
        sweep = " ".join(str(word) for word in words if word is not None)
        sweep += f" control run {control[row['run']]}" if row["run"] in control else ""
        where = [worded("threads", row["threads"])] if pd.notna(row["threads"]) else []
        if names and (own := values.get(row["point"])) is not None:
            place = ", ".join([sweep, *where, at(own, names)])
        else:
            place = " ".join(filter(None, [sweep, *where]))
        yield f"{place}: {row['kind']}: {row['text']} [{row['run']}]"


def _plain(value: object) -> str | int | None:
    if value is pd.NA or value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return value if isinstance(value, str | int) else str(value)
