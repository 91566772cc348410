"""Doubts: every reason to distrust a number, in one table.

``CHECKS`` says of each kind what it asks and why; the rules themselves are in ``stats.rules``.  A
rule is general: it knows figures, never rows.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import pandas as pd

from mqperf.columns import TABLES
from mqperf.stats.rules import (
    beside,
    broker,
    clocks,
    counts,
    cpu,
    disturbed,
    links,
    offered,
    planned,
    queueing,
    record,
    sweep,
    tester,
    together,
    window,
)
from mqperf.stats.rules.finding import Finding, with_measured
from mqperf.tables import Tables, at, conform, empty, of_plan, varied
from mqperf.tables.axis_words import worded

SHOWN = ("system", "topology", "queues", "test_case", "threads", "run", "kind", "text")
"""What a JSON line holds beside the evidence."""


@dataclass(frozen=True, slots=True)
class Check:
    """One kind of doubt: the question it asks of the tables, and why the answer matters.

    ``spoils`` says that the throughput of a point may be wrong for it, so that the point heads no
    summary while another stands; the other doubts are about latency or CPU, or about what is not
    there.
    """

    question: str
    reason: str
    find: Callable[[Tables], Iterable[Finding]]
    spoils: bool = True


CHECKS: Mapping[str, Check] = {
    "failed-run": Check(
        "Did every attempt succeed?",
        "A point that only sometimes succeeds is not the same as one that always does; an attempt"
        " that failed is evidence, never a gap.",
        counts.failed_run,
        spoils=False,
    ),
    "missing-run": Check(
        "Is every run there that the plan asks for?",
        "A mean without the repeats that somebody removed, or that were not measured yet, is not"
        " the one that was planned.",
        planned.missing_run,
        spoils=False,
    ),
    "not-of-plan": Check(
        "Does the plan of the folder ask for every point in it?",
        "Points with another window or other settings are not comparable with those of the plan:"
        " pages and notebooks show one plan's points.",
        planned.not_of_plan,
    ),
    "copied-run": Check(
        "Is every run a run of its own?",
        "A copy under another name makes repeats agree that were never measured.",
        together.copied_run,
    ),
    "overlapping-runs": Check(
        "Did each run begin after the one before had ended?",
        "Runs at the same time take CPU from each other, and one mqperf measures one at a time.",
        together.overlapping_runs,
    ),
    "mixed-hosts": Check(
        "Were all runs made on one machine?",
        "A difference between points may then be one of the machines. Compared are the facts that"
        " most runs agree in; what a run does not tell is no difference.",
        together.mixed_hosts,
    ),
    "mixed-versions": Check(
        "Were all runs of a system made with the same versions?",
        "A difference between points may then be one of the versions.",
        together.mixed_versions,
    ),
    "unreadable-run": Check(
        "Can every run be read?",
        "A run with a damaged file is left out whole: half of it would be a smaller number, and"
        " nobody would see why.",
        record.unreadable_run,
    ),
    "changed-record": Check(
        "Are the recorded files still what they were, in the folder of their case?",
        "A figure made of a file that was changed, or without one that is gone, is not what was"
        " measured.",
        record.changed_record,
    ),
    "causality": Check(
        "Was every message sent before it was received, and received before it was answered?",
        "Clocks that disagree, or instants of another run, make every latency wrong, not only the"
        " negative ones.",
        record.causality,
    ),
    "record-disagrees": Check(
        "Do the record of every message, the load generator's own output, the counts at the drain"
        " and what nodes told of their inside agree?",
        "They are made of the same messages by different means: one of them is not of this run, or"
        " was changed, or is not whole.",
        record.record_disagrees,
    ),
    "incomplete": Check(
        "Has every row its counts, its throughput and its latency?",
        "A figure that is absent is unknown, not zero: nothing finished in the window, or the"
        " report left it out.",
        counts.incomplete,
        spoils=False,
    ),
    "missing-process": Check(
        "Did every load generator process report?",
        "Without its share the counts and the throughput are too small, by as much as one failed"
        " host in five made the reports of 2016 wrong.",
        counts.missing_process,
    ),
    "received-not-sent": Check(
        "Was every message that was received sent by a client of this run?",
        "No broker makes messages: somebody who sent them did not report, or a file is of another"
        " run.",
        counts.received_not_sent,
    ),
    "roundtrip-not-received": Check(
        "Were there more replies than messages to reply to?",
        "A reply needs a message that arrived: a server's count is not whole.",
        counts.roundtrip_not_received,
    ),
    "lost": Check(
        "Did every message arrive, and does the stated loss follow from the counts?",
        "Throughput with loss is not comparable with throughput without. What an action of the plan"
        " cost is its result, and left out.",
        counts.lost,
    ),
    "duplicates": Check(
        "Was every message handled once?",
        "Work done twice counts twice in the throughput, and hides as many messages lost where"
        " only numbers are compared.",
        counts.duplicates,
    ),
    "negative-lost": Check(
        "Were fewer than no messages lost?",
        "More arrived than was sent: the counts are of different runs, or of different processes.",
        counts.negative_lost,
    ),
    "client-errors": Check(
        "Did every attempt end without an error?",
        "Attempts that time out hold their thread for seconds, and are missing in the latency."
        " Those during an action of the plan are its result, and left out.",
        counts.client_errors,
    ),
    "littles-law": Check(
        "Does threads = throughput x (round trip + think time) hold for CALL?",
        "Little's law holds for any queue. Clients that failed are counted among the threads but"
        " not in the throughput; the think time is taken from the other points of the sweep."
        " Points below saturation whose counts agree, and points with less than a tenth of their"
        " threads amiss, are not accused.",
        queueing.littles_law,
    ),
    "backlog": Check(
        "Is throughput x latency of one-way messages far above the number of threads?",
        "By Little's law that many messages are under way. Each thread hands over one at a time,"
        " and a message passes four places: client, two nodes, server. More than four for each"
        " thread wait, in queues or on the way to one, and the latency depends on how long the run"
        " was.",
        queueing.backlog,
    ),
    "unequal-rates": Check(
        "Did servers receive in the window as many one-way messages as clients sent in it, within"
        " 2 %?",
        "Faster than sent is a backlog of the warm-up, and cannot last; slower, and a queue grows."
        " Four messages for each thread may be under way at either end of the window. Messages that"
        " an action of the plan cost are left out.",
        window.unequal_rates,
    ),
    "rate-missed": Check(
        "Did clients send at the offered rate, within 1 %?",
        "The point is named after a load that the broker did not get; beyond its limit the offered"
        " rate is no load but a wish.",
        offered.rate_missed,
    ),
    "count-missed": Check(
        "Were as many messages sent as the load was to have?",
        "A load by count ends when all are sent. One that was over before, since the system is"
        " slower than was thought, shows a part of it.",
        offered.count_missed,
        spoils=False,
    ),
    "sender-late": Check(
        "Were messages handed over when they were due?",
        "Latency counts from the instant at which a message is due. Where clients wait for CPU, or"
        " the broker takes no bytes, that wait is in it. Asked where it is above 10 ms, and half of"
        " the latency.",
        offered.sender_late,
        spoils=False,
    ),
    "service-time": Check(
        "Does the latency of an imported run at an offered rate count from when messages were due?",
        "A tool that counts from the sending leaves out the wait of messages whose sender was late:"
        " such a latency is lower than one that has it, and a pause shows in few messages only.",
        offered.service_time,
        spoils=False,
    ),
    "senders-blocked": Check(
        "Did the broker let clients send all the time?",
        "A broker that lacks memory or disk blocks those who publish, and serves the others: then"
        " its limits are measured, and not its work.",
        offered.senders_blocked,
    ),
    "empty-seconds": Check(
        "Was something finished in every second of the window?",
        "A mean over bursts and pauses is the rate of neither. Asked from 20 messages a second on,"
        " where a second without any is no chance.",
        window.empty_seconds,
    ),
    "clock-offset": Check(
        "Are one-way latencies above zero, and ten times what the clocks may make them wrong by?",
        "They are differences of two clocks. Offsets are corrected; what remains is as much as half"
        " a round trip between controller and hosts, and what the clocks drifted.",
        clocks.clock_offset,
        spoils=False,
    ),
    "clock-drift": Check(
        "Did the clock of every host keep its offset to the controller's?",
        "Clocks drift by less than 500 millionths, and none is set during a run. One that changes"
        " more has no offset to correct by, or a comparison was wrong.",
        clocks.clock_drift,
        spoils=False,
    ),
    "cpu-sum": Check(
        "Do the nodes' CPU add up to the total, and the processes' to no more than their host's?",
        "Beyond rounding, or the kernel's sampling, they do not belong to the same run.",
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
        "A counter was reset, or two processes were taken for one.",
        cpu.cpu_exceeds_cores,
        spoils=False,
    ),
    "tester-saturated": Check(
        "Had the load generators CPU left?",
        "A tester without CPU measures itself. A Python process runs on about one core, and is at"
        " its limit from 90 % of it on; when broker and tester share a host of which 95 % are in"
        " use, they measure each other. A host that others helped to fill is a noisy one instead.",
        tester.tester_saturated,
    ),
    "noisy-host": Check(
        "Did processes that do not belong to the run use less than a tenth of its host's cores?",
        "What others take, the run has not: such runs were 5 to 12 % slower than the other repeats"
        " of their points. Time that a hypervisor gave away counts as others'. Runs whose brokers"
        " were not watched are not judged.",
        tester.noisy_host,
    ),
    "broker-alarm": Check(
        "Did the broker's log tell of a lack of memory or disk, of a full link, or of garbage?",
        "A broker that runs short holds senders back, or stands still while it collects: then its"
        " limits are measured, and not its work.",
        broker.broker_alarm,
    ),
    "presettled-dropped": Check(
        "Did routers pass on every pre-settled message?",
        "A router that cannot keep up may drop such messages, and tells nobody: what was received"
        " is then what it passed on, and not what was sent.",
        broker.presettled_dropped,
    ),
    "node-frozen": Check(
        "Did every broker node run all the time?",
        "A node that was stopped (SIGSTOP, a debugger) serves nobody meanwhile: the pause is"
        " measured, and not the broker.",
        broker.node_frozen,
    ),
    "unread-record": Check(
        "Can the records of nodes elsewhere be read that lie beside the runs?",
        "CPU of those nodes is unknown in every run; all other figures stand.",
        cpu.unread_record,
        spoils=False,
    ),
    "action-late": Check(
        "Did every action begin when the plan asks?",
        "An action at another time meets another load: the machine was too busy to take it.",
        disturbed.action_late,
    ),
    "not-recovered": Check(
        "Did throughput come back after every action, while the load lasted?",
        "How long recovery takes is not known, only that it takes longer than was measured.",
        disturbed.not_recovered,
        spoils=False,
    ),
    "background-load": Check(
        "Was every background load the one that the plan asks for?",
        "The figures are those of a system under another load than the point is named after.",
        beside.background_load,
    ),
    "link-not-as-asked": Check(
        "Was every link what the plan asks for, before and after the load?",
        "The run says what another network does than the one that it is named after.",
        links.link_not_as_asked,
    ),
    "probe-gap": Check(
        "Was every process sampled through the whole window?",
        "CPU of the missing seconds is unknown: the process died, or the machine was frozen.",
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
        "Is the measured window as long as the plan asks?",
        "The run was cut short, and its points are less certain than the others; or the window was"
        " moved after the run.",
        counts.short_window,
    ),
    "spread": Check(
        "Is every repeat of a point within 10 % of their median?",
        "What differs between repeats of one point differs between points, too, for no reason. Of"
        " two repeats the difference counts.",
        sweep.spread,
    ),
    "peak-at-edge": Check(
        "Does the best throughput lie inside the sweep?",
        "At its edge it is a bound: more, or fewer, threads might give more.",
        sweep.peak_at_edge,
        spoils=False,
    ),
    "drift": Check(
        "Does throughput stay the same from the start of the sweep to its end?",
        "If the same points move with time, so do the others, and the order of the sweep shows in"
        " its curve.",
        sweep.drift,
        spoils=False,
    ),
}
"""Kind -> check, in the order in which a reader should hear of them."""


SPOILING = frozenset(kind for kind, check in CHECKS.items() if check.spoils)
"""The kinds of doubt for which a point heads no summary while another stands."""

WHOLE = ("not-of-plan", "copied-run", "overlapping-runs")
"""The kinds that look at everything in a folder; the others at what its plan asks for."""


def doubts(tables: Tables) -> pd.DataFrame:
    """Everything that the checks find, one row per run and kind of doubt.

    Doubts that came with the tables, such as those about a report's wording, are not repeated.
    """
    planned_only = with_measured(of_plan(tables))
    rows = [
        {"run": found.run, "kind": kind, "text": found.text, "evidence": json.dumps(found.evidence)}
        for kind, check in CHECKS.items()
        for found in check.find(tables if kind in WHOLE else planned_only)
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
        yield json.dumps(line, ensure_ascii=False)


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
