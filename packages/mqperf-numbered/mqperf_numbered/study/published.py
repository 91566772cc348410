"""Compares the diaries of publishers and consumers with their recorded messages."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from mqperf.plan import Case
from mqperf.record import Whole
from mqperf.record.outputs.diary import Diary, Happened, read_diary
from mqperf.record.streams.stream import ByProcess
from mqperf.study.load.reader import Account, LoadReader
from mqperf_numbered.plan.paced import Paced
from mqperf_numbered.study import backlog

Wrong = Callable[[Case, Diary, Mapping[str, int]], Iterator[str]]
"""Yields the contradictions between a process's diary and the message counts of its streams."""


def confirms(_case: Case, diary: Diary, recorded: Mapping[str, int]) -> Iterator[str]:
    """Check that refused messages are errors, and that all sent ones are accounted for."""
    if diary.kind != "client":
        return
    counts = {name: diary.counts.get(name, 0) for name in ("refused", "unconfirmed")}
    if counts["refused"] != recorded["error"]:
        yield f"{counts['refused']} refused, {recorded['error']} errors recorded"
    confirmed = recorded.get("confirmed")
    if confirmed is not None and sum(counts.values()) + confirmed != recorded["sent"]:
        yield (
            f"{confirmed} confirmed + {counts['refused']} refused +"
            f" {counts['unconfirmed']} unconfirmed, but {recorded['sent']} were sent"
        )


def reader(generator: str, of_case: Callable[[Case], Paced], wrong: Wrong = confirms) -> LoadReader:
    """Return the reader of a generator."""
    return LoadReader(generator, partial(account, generator, of_case, wrong))


def account(
    generator: str, of_case: Callable[[Case], Paced], wrong: Wrong, run: Whole, streams: ByProcess
) -> Account:
    """Return offered rate, events and contradictions; raises ``LoadError`` for a damaged file."""
    happened: list[Happened] = []
    disagreements: list[str] = []
    for process in run.facts.processes:
        diary = read_diary(generator, run.folder, process.label)
        happened += diary.happened()
        recorded = {name: stream.count for name, stream in streams[process.label].items()}
        disagreements += [
            f"{process.label}: {reason}" for reason in wrong(run.case, diary, recorded)
        ]
    disagreements += backlog.disagreements(run, streams, happened)
    offered = of_case(run.case).offered_msg_s(run.case, run.window_in_load)
    return Account(offered_msg_s=offered, happened=happened, disagreements=disagreements)
