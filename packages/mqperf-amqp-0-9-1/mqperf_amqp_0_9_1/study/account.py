"""Compares the diaries of processes with their recorded messages."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from mqperf.plan import Case
from mqperf.record import Whole
from mqperf.record.outputs.diary import Diary
from mqperf.record.streams.stream import ByProcess
from mqperf.study.load.reader import Account, LoadReader
from mqperf_amqp_0_9_1.plan.parameters import GENERATOR, of_case
from mqperf_amqp_0_9_1.study import priorities, rejections
from mqperf_numbered.study import published


def wrong(_case: Case, diary: Diary, recorded: Mapping[str, int]) -> Iterator[str]:
    """Yield if recorded errors are not the returned and refused messages of the diary."""
    counted = sum(diary.counts.get(name, 0) for name in ("returned", "refused"))
    if "error" in recorded and counted != recorded["error"]:
        yield f"{counted} returned or refused, {recorded['error']} errors recorded"


def account(run: Whole, streams: ByProcess) -> Account:
    """Return offered rate, events and contradictions; raises ``LoadError`` for a damaged file."""
    common = published.account(GENERATOR.name, of_case, wrong, run, streams)
    disagreements = [
        *common.disagreements,
        *rejections.disagreements(run),
        *priorities.disagreements(run),
    ]
    return replace(common, disagreements=disagreements)


READER = LoadReader(GENERATOR.name, account)
