"""Parameters of a replay of traffic in a plan."""

from typing import Annotated

from pydantic import AfterValidator, Field

from mqperf.plan import CaseParameters
from mqperf.plan.columns import TIMES
from mqperf.plan.file.attached import pin_of
from mqperf.plan.load import Generator
from mqperf_amqp_0_9_1.plan.parameters import Acks
from mqperf_amqp_0_9_1.plan.test_case import TEST_CASE
from mqperf_numbered.plan.paced import Confirms, Delivery, Prefetch

MOST_TIMES = 1_000


def _read(name: str) -> str:
    if pin_of(name) is None:
        raise ValueError("the file was not read: files go with a plan that is in a file itself")
    return name


class Parameters(CaseParameters):
    """Parameters of a replay: each is a column of tables, and may be a list."""

    traffic_file: Annotated[str, AfterValidator(_read)] = Field(
        title="traffic profile",
        description="A profile that ``mqperf capture`` wrote, in the plan's folder or below. It"
        " begins with the load, warm-up included, and again when it has ended.",
    )
    traffic_speed: Annotated[float, TIMES] = Field(
        1.0,
        gt=0,
        le=MOST_TIMES,
        title="speed of the replay",
        description="Seconds of the profile that are replayed in a second.",
    )
    traffic_scale: Annotated[float, TIMES] = Field(
        1.0,
        gt=0,
        le=MOST_TIMES,
        title="scale of the replay",
        description="Messages that are sent for each message of the profile.",
    )
    acks: Acks = "auto"
    prefetch: Prefetch = 1_000
    confirms: Confirms = 0
    delivery: Delivery = "transient"


of_case = Parameters.of_case

GENERATOR = Generator(
    name="traffic",
    title="Replayed Traffic",
    protocol="AMQP 0-9-1",
    link="https://www.rabbitmq.com/docs/firehose",
    test_cases=(TEST_CASE.name,),
    parameters=Parameters,
    encrypts=True,
)
