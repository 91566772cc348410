"""Causes that are a full resource: a process, a host, a link, a disk, a quota, memory.

CPU of load generators, nodes and hosts, and the network, are judged by the same functions as the
column *bottleneck*; figures from inside nodes and from the kernel go further.
"""

import json
from collections.abc import Iterator

from mqperf.study.stats.bottleneck import LINK_FULL, LOSSY, network_limit
from mqperf.study.stats.rules.finding import each
from mqperf_diagnosis.study.evidence import Cause, Evidence, percent

NEVER_IDLE = 0.95
"""Share of looks with work for an Erlang process, from which on others wait for it."""

RUNNING = 0.6
"""Share of looks at which such a process must have been running: with less, it waits itself for one
of the schedulers of its node.  With 100 looks a share of 0.6 has a standard error of 0.05."""

WAITED = 0.2
"""Share of the time in which threads are ready, but wait for a core, that slows a run."""

SYNCHRONISED = 0.3
"""Share of the window in calls of fsync from which on a node waits for the disk."""

COLLECTING = 0.25
"""Share of a JVM's CPU in garbage collection, or of the window in its pauses, that limits it."""

CARRIED = 0.8
"""Share of a link's bandwidth from which on bodies of messages fill it; headers come on top."""

LOST = 0.005
"""Share of packets lost from which on TCP holds back on a link with a delay."""

THROTTLED = 0.5
"""Share of periods with a used-up quota from which on the quota is the limit."""

ALARMED = 0.05
"""Share of the window with an alarm, which blocks publishers, that limits a run."""

NEIGHBOUR = 0.25
"""Share of a full host's cores from which on other processes are the cause; below, the run itself
used three quarters."""

TESTS_BY_KIND = {
    "queue": "spread the messages over a second queue",
    "channel": "open a second channel",
    "connection": "open a second connection",
}


def alarm(run: Evidence) -> Iterator[Cause]:
    """A node that blocks publishers, by its alarms in ``waits``, or by its log in the window."""
    for row in each(run.reached("alarmed", ALARMED)):
        yield Cause(
            name="memory or disk alarm",
            at=row.process,
            share=row.value,
            because=f"an alarm was set on {row.process} in {percent(row.value)} of the seconds"
            " seen, and blocks publishers",
            test="raise the limit (memory_watermark_mb), or have consumers keep the queues short",
        )
    events = run.rows("events")
    if len(run.figures("alarmed")) or events.empty:
        return
    within = events["what"].eq("alarm") & events["time_s"].between(0, run.run.window_s)
    for row in each(events[within.fillna(value=False)]):
        detail = json.loads(row.detail)
        if "resource limit alarm set" in detail["line"]:
            yield Cause(
                name="memory or disk alarm",
                at=detail["log"],
                share=1 - row.time_s / run.run.window_s,
                because=f"{detail['log']} has an alarm {row.time_s:.0f} s into the window,"
                f" which blocks publishers ({detail['times']} such lines)",
                test="raise the limit (memory_watermark_mb), or have consumers keep queues short",
            )


def tester(run: Evidence) -> Iterator[Cause]:
    """A load generator that used up the core that it runs on."""
    for row in each(run.full.testers):
        yield Cause(
            name="load generator full",
            at=row.process,
            share=min(1.0, row.total_cores),
            because=f"{row.process} used {row.total_cores:.2f} cores, and a Python process runs on"
            " about one",
            test="add load generators: processes, or hosts of clients",
        )


def broker(run: Evidence) -> Iterator[Cause]:
    """A node that used up its host's cores."""
    for row in each(run.full.nodes):
        yield Cause(
            name="node full",
            at=row.process,
            share=min(1.0, row.total_cores / row.cores),
            because=f"{row.process} used {row.total_cores:.2f} of {row.cores} cores",
            test="give the node more cores, or let another node have part of the queues",
        )


def erlang_process(run: Evidence) -> Iterator[Cause]:
    """One Erlang process of a node that always has work, while others wait for it.

    Where the run waits for cores on a full host, every process has work for longer, and none is
    reported.  With cores left, threads wait as well, for the thread that runs where they did: that
    is no shortage, and is ignored here.
    """
    if run.waits.empty or ((run.waited or 0.0) >= WAITED and len(run.full.hosts)):
        return
    for kind, test in TESTS_BY_KIND.items():
        for row in each(run.figures(f"{kind} running")):
            busy = row.value + (run.figure(row.process, f"{kind} runnable") or 0.0)
            synchronised = run.figure(row.process, "synchronised") or 0.0
            if busy < NEVER_IDLE or row.value < RUNNING or synchronised >= SYNCHRONISED:
                continue
            mailbox = run.figure(row.process, f"{kind} mailbox") or 0.0
            label = f" {row.object}" if row.object != kind else ""
            yield Cause(
                name=f"one {kind} process full",
                at=row.process,
                share=min(1.0, busy),
                because=f"the {kind} process{label} on {row.process} had work in {percent(busy)} of"
                f" samples, and ran in {percent(row.value)}; {mailbox:.0f} messages of Erlang"
                " waited for it",
                test=test,
            )


def host(run: Evidence) -> Iterator[Cause]:
    """A host without a core left, because of the run itself or of a neighbour.

    If the time for which threads of the run waited for a core is known, it decides.
    """
    if run.full.hosts.empty:
        return
    waited, wait_text = run.waited, ""
    if waited is not None:
        wait_text = f"; threads of the run that wanted one waited {percent(waited)} of that time"
    of_full_node = run.full.hosts["host"].isin(run.full.nodes["host"])
    for row in each(run.full.hosts[run.full.hosts["tests"] | ~of_full_node]):
        if waited is not None and waited < WAITED:
            continue
        others, stolen = row.others >= NEIGHBOUR * row.cores, row.stolen_cores
        robbed, stolen_text = stolen >= NEIGHBOUR * row.cores, ""
        test = "have some of its processes on another host, or give it more cores"
        if others:
            test = "run it again without the other processes"
        if robbed:
            stolen_text = f", and {stolen:.2f} withheld by its hypervisor"
            test = "run it on a machine whose hypervisor gives it all its cores"
        yield Cause(
            name="neighbour on the host" if others or robbed else "host full",
            at=row.process,
            share=min(1.0, row.total_cores / row.cores) if waited is None else waited,
            because=f"{row.total_cores:.2f} of the {row.cores} cores of {row.process} were in use,"
            f" {row.others:.2f} by processes that do not belong to the run{stolen_text}{wait_text}",
            test=test,
        )


def quota(run: Evidence) -> Iterator[Cause]:
    """A role that had used up its quota of CPU."""
    cause_names = {"client": "load generator full", "server": "slow consumer"}
    for row in each(run.rows("quotas")):
        if row.throttled_share < THROTTLED:
            continue
        role = row.group.partition(" ")[0]
        yield Cause(
            name=cause_names.get(role, "node full"),
            at=row.group,
            share=row.throttled_share,
            because=f"{row.group} had used up its quota of {row.quota_cores:g} cores in"
            f" {percent(row.throttled_share)} of the periods",
            test=f"raise {role}_cores",
        )


def link(run: Evidence) -> Iterator[Cause]:
    """A link of the plan that is full, or loses packets."""
    for row in each(run.rows("links")):
        body, figures = run.parameter("payload_bytes"), run.run
        # what servers get of a message may be several copies, which clients do not send
        rate = figures.throughput_msg_s if "server" in row.between else figures.send_rate_msg_s
        bits = 8 * body * rate if body else 0.0
        if row.bandwidth_bits_s and bits >= CARRIED * row.bandwidth_bits_s:
            yield Cause(
                name="link full",
                at=row.between,
                share=min(1.0, bits / row.bandwidth_bits_s),
                because=f"bodies alone took {bits / 1e6:.1f} of the"
                f" {row.bandwidth_bits_s / 1e6:.1f} Mbit/s of the link between {row.between}",
                test="ask for a larger bandwidth, or smaller bodies",
            )
        if row.packets_came and row.packets_lost / row.packets_came >= LOST:
            lost = row.packets_lost / row.packets_came
            yield Cause(
                name="packet loss",
                at=row.between,
                share=lost,
                because=f"the link between {row.between} lost {100 * lost:.1f} % of its packets",
                test="ask for the same link without loss",
            )


def network(run: Evidence) -> Iterator[Cause]:
    """A network interface that is full, or a host whose segments are retransmitted."""
    links = run.full.networks
    if len(links):
        because = network_limit(links)
        lossy = "retransmitted" in because
        most = links[["sent_bytes_s", "received_bytes_s"]].max(axis="columns")
        share = links["retransmitted_share"] if lossy else most / links["speed_bytes_s"]
        yield Cause(
            name="packet loss" if lossy else "network full",
            at=", ".join(links.loc[share >= (LOSSY if lossy else LINK_FULL), "host"].unique()),
            share=min(1.0, float(share.max())),
            because=because,
            test="run it on a network that loses nothing"
            if lossy
            else "send smaller bodies, or use a faster network",
        )


def disk(run: Evidence) -> Iterator[Cause]:
    """A node that waits for its disk for much of the time, unless the run keeps its rate."""
    if run.kept:
        return
    for row in each(run.reached("synchronised", SYNCHRONISED)):
        written = run.figure(row.process, "written") or 0.0
        yield Cause(
            name="disk",
            at=row.process,
            share=min(1.0, row.value),
            because=f"{row.process} was in calls of fsync for {percent(row.value)} of the window,"
            f" and wrote {written / 1e6:.1f} MB/s",
            test="run it with transient messages, or on a faster disk",
        )


def collector(run: Evidence) -> Iterator[Cause]:
    """A JVM whose garbage collector takes much of its CPU, or pauses it for long.

    Unless the run keeps its rate: then enough of its time is left, as with disks.
    """
    if run.kept:
        return
    rows = run.waits if run.waits.empty else run.waits[run.waits["object"].eq("collector")]
    for row in each(rows):
        used = run.figure(row.process, "used", "all") or 0.0
        if used and row.value / used >= COLLECTING:
            yield _collecting(row.process, row.value / used, "of its CPU, by its threads")
    for row in each(run.rows("node_summary")):
        share = row.paused_s / run.run.window_s
        if share >= COLLECTING and row.node not in set(rows["process"]):
            yield _collecting(row.node, share, "of the window, as it says itself")


def _collecting(node: str, share: float, of: str) -> Cause:
    return Cause(
        name="garbage collection",
        at=node,
        share=min(1.0, share),
        because=f"the garbage collector of {node} took {percent(share)} {of}",
        test="give its Java a larger heap",
    )


RULES = (
    tester,
    broker,
    erlang_process,
    host,
    link,
    network,
    disk,
    collector,
)
"""The rules about full resources; ``alarm`` and ``quota`` come before them."""
