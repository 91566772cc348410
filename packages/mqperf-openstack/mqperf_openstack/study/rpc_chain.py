"""The instants of each creation's steps in a run, and the check that they are complete."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mqperf.base.errors import LoadError
from mqperf.record import Whole, read_events
from mqperf.record.messages import read_messages
from mqperf.record.streams.stream import ByProcess, Counts, Values
from mqperf.study.load import Account, LoadReader
from mqperf_openstack.plan.rpc_chain import GENERATOR
from mqperf_openstack.record.steps import StepFacts, file_of, read_steps

SIGN_OFF_S = 0.01
"""Tolerance for the instant of a step, as the clocks of hosts were measured at another time."""


class Walked(NamedTuple):
    """The creations of some clients: a row per creation, a column per step, in epoch seconds.

    Instants are by the controller's clock, NaN for a step that was not reached.
    """

    creations: Values
    started: Values
    passed: Values
    finished: Values


def account(run: Whole, _streams: ByProcess) -> Account:
    """Return the disagreements of the steps with the record; the load keeps no counts of its own.

    Raise ``LoadError`` for files of steps that are damaged or of another run.
    """
    steps, walk = walked(run)
    seen = ~np.isnan(walk.started) & ~np.isnan(walk.passed)
    torn = int((~seen[~np.isnan(walk.finished)]).any(axis=1).sum())
    wrong = [f"steps: {torn} creations came to their end without all {len(steps)} steps"]
    return Account(disagreements=(*(wrong if torn else ()), *_mistimed_actions(run, steps, walk)))


def _mistimed_actions(run: Whole, steps: Sequence[StepFacts], walk: Walked) -> Iterator[str]:
    """Yield a problem for each action recorded as begun with a step that no creation began then."""
    if not any("step" in action.parameters for action in run.case.actions):
        return
    events = [e.detail for e in read_events(run.run.path) if e.what == "action-began"]
    began_at = {detail.get("number"): detail.get("commanded") for detail in events}
    for number, action in enumerate(run.case.actions, 1):
        name, instant = action.parameters.get("step"), began_at.get(number)
        columns = [index for index, step in enumerate(steps) if step.step == name]
        if columns and isinstance(instant, float):
            apart_s = np.abs(walk.started[:, columns] - instant)
            nearest_s = apart_s[~np.isnan(apart_s)].min(initial=np.inf)
            if nearest_s > SIGN_OFF_S + uncertainty_s(run):
                yield (
                    f"steps: {action.do} {number} is said to have begun with {name}, which the"
                    f" nearest creation began {nearest_s:.3f} s apart"
                )


@lru_cache(maxsize=1)  # the account and the table are of the same run, one after the other
def walked(run: Whole) -> tuple[Sequence[StepFacts], Walked]:
    """Return the steps of the chain, and the creations of all clients.

    Each creation was run by a client and the server of the same number.
    """
    kinds = {process.label: process.kind for process in run.facts.processes}
    files = {label: read_steps(file_of(run.folder, label)) for label in kinds}
    first = next(iter(files.values()))[0]
    for label, (header, _) in files.items():
        if (header.label, header.kind, header.steps) != (label, kinds[label], first.steps):
            raise LoadError(f"{file_of(run.folder, label)}: not of this run: another chain or file")
    rows = {label: values for label, (_, values) in files.items()}
    clients = [process.label for process in run.facts.processes if process.kind == "client"]
    walks = [_walked_by_pair(run, label, rows, len(first.steps)) for label in clients]
    for label, walk in zip(clients, walks, strict=True):
        _check_order(run, label, first.steps, walk)
    return first.steps, Walked(*(np.concatenate(column) for column in zip(*walks, strict=True)))


def _walked_by_pair(run: Whole, client: str, rows: Mapping[str, Values], length: int) -> Walked:
    """Return the creations of one client, identified by their starts in the client's record."""
    file = run.folder / f"{client}.messages"
    messages = read_messages(file)
    sent, replies = np.sort(messages["sent"][:, 0]), messages["round_trip"]
    server = f"server-{client.removeprefix('client-')}"
    ahead = {label: run.clock(run.host_of(label)).offset_s for label in (client, server)}
    both = np.concatenate([rows[label] - np.array([0.0, 0.0, s, s]) for label, s in ahead.items()])
    creation = _creation_rows(file, both[:, 0], sent)
    step = both[:, 1].astype(np.int64)
    instants = []
    for column in (2, 3):
        seen = ~np.isnan(both[:, column])
        by_step = np.full((len(sent), length), np.nan)
        by_step[creation[seen], step[seen]] = both[seen, column]
        instants.append(by_step)
    finished = np.full(len(sent), np.nan)
    finished[_creation_rows(file, replies[:, 0], sent)] = replies[:, 1] - ahead[client]
    return Walked(sent - ahead[client], instants[0], instants[1], finished)


def _check_order(run: Whole, client: str, steps: Sequence[StepFacts], walked: Walked) -> None:
    """Raise ``LoadError`` for a creation that begins a step before it has passed the one before.

    Of steps sent while another is handled, only their own start and end are compared.
    """
    meanwhile = {number for step in steps for number in step.meanwhile}
    in_turn = [number for number in range(len(steps)) if number not in meanwhile]
    both = np.stack([walked.started, walked.passed], axis=2)
    instants = both[:, in_turn].reshape(len(both), -1)
    instants = np.column_stack([walked.creations, instants, walked.finished])
    between = np.diff(instants, axis=1)
    took = np.diff(both, axis=2)[:, :, 0]
    steps_between = np.array([number for number in in_turn for _ in range(2)] + [len(steps) - 1])
    least_s = -uncertainty_s(run)
    for gaps, numbers in ((between, steps_between), (took, np.arange(len(steps)))):
        for creation, place in np.argwhere(gaps < least_s)[:1]:
            number = numbers[place]
            raise LoadError(
                f"{file_of(run.folder, client)}: by this file, and that of its server, the creation"
                f" that began at {walked.creations[creation] - run.window[0]:.3f} s goes back by"
                f" {-gaps[creation, place]:.3f} s at step {number + 1} ({steps[number].step})"
            )


def _creation_rows(file: Path, creations: Values, sent: Values) -> Counts:
    """Return the index of each creation in ``sent``; raise ``LoadError`` for one that is absent."""
    rows: Counts = np.searchsorted(sent, creations)
    if not np.array_equal(sent[np.minimum(rows, len(sent) - 1)], creations):
        raise LoadError(f"{file}: a step is of a creation that its client did not begin")
    return rows


def uncertainty_s(run: Whole) -> float:
    """Return the error bound of a step from host to host: the largest of any pair of processes."""
    hosts = {process.label: process.host for process in run.facts.processes}
    host_pairs = [
        (host, hosts[f"server-{label.removeprefix('client-')}"])
        for label, host in hosts.items()
        if label.startswith("client-")
    ]
    return max(run.facts.uncertainty_s(host, other) for host, other in host_pairs)


READER = LoadReader(GENERATOR.name, account)
