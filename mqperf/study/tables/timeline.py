"""Compare the times in independent records of a run: facts, events, logs of probes."""

from collections.abc import Iterator, Sequence

from mqperf.record import Event, Whole
from mqperf.record.events import CONTROLLER, FILE, SLACK_S
from mqperf.study.probes import PROBE_READERS

MILESTONES = ("start", "measured", "drained", "stopped")
"""Events that the runner records exactly once in every run that it describes."""


def disagreements(run: Whole, events: Sequence[Event]) -> Iterator[str]:
    """Contradictions between facts, events and probes of a run."""
    yield from _milestones(run, events)
    yield from _instants(run, events)
    yield from _exits(run)
    for probe in PROBE_READERS.values():
        yield from probe.disagreements(run)


def _milestones(run: Whole, events: Sequence[Event]) -> Iterator[str]:
    """Missing events, and those of unknown hosts or processes, if a runner described the run."""
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
    """Events whose times contradict the load and the window in run.json."""
    begin, earliest = run.load[0], {"measured": run.window[1], "drained": run.load[1]}
    for event in events:
        if event.what == "start" and event.detail.get("start") != begin:
            yield f"{FILE}: the load started at {event.detail.get('start')}, by run.json at {begin}"
        if event.what == "start" and event.epoch > begin + SLACK_S:
            yield f"{FILE}: the start was agreed {event.epoch - begin:.1f} s after it"
        if event.epoch < earliest.get(event.what, 0.0) - SLACK_S:
            early_s = earliest[event.what] - event.epoch
            yield f"{FILE}: {event.what} {early_s:.1f} s before that can be"


def _exits(run: Whole) -> Iterator[str]:
    """Processes of a load with a failing exit code, which a run with status done cannot have.

    The runner ends none of them by a signal before exit codes are recorded.
    """
    loads = {"": run.facts.processes}
    loads |= {
        f"background-{n} ": facts.processes for n, facts in enumerate(run.facts.background, 1)
    }
    for load, processes in loads.items():
        for process in processes:
            if process.exit_code not in {0, None}:
                yield f"{load}{process.label} ended with exit code {process.exit_code}"
