"""When things happened, by records that were made apart: facts, events, logs of brokers."""

from collections.abc import Iterator, Sequence

from mqperf.record import Event, Whole
from mqperf.record.events import CONTROLLER, FILE, SLACK_S
from mqperf.study.probes import PROBE_READERS

MILESTONES = ("start", "measured", "drained", "stopped")
"""What the runner writes down once in every run that it describes."""


def disagreements(run: Whole, events: Sequence[Event]) -> Iterator[str]:
    """Where facts, events and probes do not tell of the same run."""
    yield from _milestones(run, events)
    yield from _instants(run, events)
    yield from _exits(run)
    for probe in PROBE_READERS.values():
        yield from probe.disagreements(run)


def _milestones(run: Whole, events: Sequence[Event]) -> Iterator[str]:
    """Events that are missing or of nobody; a run that no runner described has what it has."""
    if not events:
        yield f"{FILE}: no event in it"
    if run.facts.started is None:
        return
    names = [event.what for event in events]
    for name in MILESTONES:
        if (times := names.count(name)) != 1:
            yield f"{FILE}: {times} events called {name}"
    hosts = {host.label for host in run.facts.hosts} | {CONTROLLER}
    for event in events:
        if run.facts.hosts and event.host not in hosts:
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


def _exits(run: Whole) -> Iterator[str]:
    """Processes of a load that did not end well: a run with such a one fails, and is not done.

    None of them is ended by a signal before that is written down.
    """
    loads = {"": run.facts.processes}
    loads |= {
        f"background-{n} ": facts.processes for n, facts in enumerate(run.facts.background, 1)
    }
    for load, processes in loads.items():
        for process in processes:
            if process.exit_code not in {0, None}:
                yield f"{load}{process.label} ended with exit code {process.exit_code}"
