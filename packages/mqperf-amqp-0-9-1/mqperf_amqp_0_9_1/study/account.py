"""What processes wrote beside their counts, against the record of every message."""

from collections.abc import Iterator, Mapping

from mqperf.plan import Case
from mqperf.record.outputs.diary import Diary
from mqperf_amqp_0_9_1.plan.parameters import of_case
from mqperf_numbered.study.published import reader


def wrong(_case: Case, diary: Diary, recorded: Mapping[str, int]) -> Iterator[str]:
    """Where errors are not the messages that no queue took, or that the broker refused."""
    counted = sum(diary.counts.get(name, 0) for name in ("returned", "refused"))
    if "error" in recorded and counted != recorded["error"]:
        yield f"{counted} returned or refused, {recorded['error']} errors recorded"


READER = reader("amqp-0-9-1", of_case, wrong)
