"""When things happened, by records that were made apart: facts, events, logs of brokers."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from mqperf.probes import broker_log
from mqperf.probes.psutil_log import LOOPBACK
from mqperf.record import Event, Whole
from mqperf.record.events import FILE, SLACK_S
from mqperf.tables.probed import Logs

MILESTONES = ("start", "measured", "drained", "stopped")
"""What the runner writes down once in every run that it describes."""

APART_S = 0.9
"""A probe that begins so long before or after the load is of another one, or its clock is."""

LATE_S, EARLY_S = 1.0, 60.0
"""A log is collected at the end of a run, and what it says of later instants is of another one.
That of the first run begins with the start of the system, and may end with it on an idle node."""


def disagreements(run: Whole, events: Sequence[Event], probes: Logs) -> list[str]:
    """Where the facts, the events, the probes and the brokers' logs do not tell of the same run."""
    return [
        *_milestones(run, events),
        *_instants(run, events),
        *_probes(run, probes),
        *_logs(run, events),
    ]


def _milestones(run: Whole, events: Sequence[Event]) -> Iterator[str]:
    """Events that are missing or of nobody; a run that no runner described has what it has."""
    if not events:
        yield f"{FILE}: no event in it"
    if run.facts.started is None:
        return
    told = [event.what for event in events]
    for name in MILESTONES:
        if (times := told.count(name)) != 1:
            yield f"{FILE}: {times} events called {name}"
    hosts = {host.label for host in run.facts.hosts}
    for event in events:
        if hosts and event.host not in hosts:
            yield f"{FILE}: {event.what} on host {event.host}, which run.json does not know"
    labels = {process.label for process in run.facts.processes}
    for event in events:
        started = event.detail.get("processes") if event.what == "started" else [*labels]
        if not isinstance(started, list) or not labels <= {str(label) for label in started}:
            yield f"{FILE}: {started} were started, run.json has {', '.join(sorted(labels))}"


def _instants(run: Whole, events: Sequence[Event]) -> Iterator[str]:
    """A start that is not the window's, and an end before the window's."""
    begin, earliest = run.load[0], {"measured": run.window[1], "drained": run.load[1]}
    for event in events:
        if event.what == "start" and event.detail.get("start") != begin:
            yield f"{FILE}: the load started at {event.detail.get('start')}, by run.json at {begin}"
        if event.what == "start" and event.epoch > begin + SLACK_S:
            yield f"{FILE}: the start was agreed {event.epoch - begin:.1f} s after it"
        if event.epoch < earliest.get(event.what, 0.0) - SLACK_S:
            late = earliest[event.what] - event.epoch
            yield f"{FILE}: {event.what} {late:.1f} s before that can be"


def _probes(run: Whole, probes: Logs) -> Iterator[str]:
    """Probes that began at another instant than the load, and a loopback that loses."""
    for file, samples in probes.items():
        name = file.relative_to(run.run.path)
        apart = samples[0].epoch - run.load[0] if samples else 0.0
        if abs(apart) > APART_S + run.clock_offset_s:
            yield f"{name}: begins {apart:+.1f} s from the load"
        counted = (one.network.bytes.get(LOOPBACK, (0, 0)) for one in samples if one.network)
        for sent, received in counted:
            if sent != received:
                yield f"{name}: {sent} bytes sent over {LOOPBACK}, {received} received"
                break


def _logs(run: Whole, events: Sequence[Event]) -> Iterator[str]:
    """Logs of brokers that end before the run began, or after it had ended."""
    if not events:
        return
    begin, end = events[0].epoch, max(events[-1].epoch, _epoch(run.facts.stopped))
    for log, last in broker_log.ends(run.run.path / "broker").items():
        if last > end + LATE_S:
            yield f"broker/{log}: ends {last - end:.1f} s after the run"
        if last < begin - EARLY_S:
            yield f"broker/{log}: ends {begin - last:.1f} s before the run"


def _epoch(text: str | None) -> float:
    """The instant in epoch seconds; long ago, if it is none."""
    try:
        return datetime.fromisoformat(text or "").timestamp()
    except ValueError:
        return 0.0
