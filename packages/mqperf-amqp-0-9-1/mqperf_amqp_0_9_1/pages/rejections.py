"""The section on rejected deliveries and dead letters."""

from mqperf_amqp_0_9_1.study.rejections import TABLE
from mqperf_numbered.pages import parts

WORDS = (
    "Consumers reject the share of deliveries that the plan states, and the broker delivers these"
    " messages again, or routes them as dead letters. All counts are of the whole load."
)

ABOUT = "Rejections and dead letters", "rejections and dead letters", WORDS

SECTION = parts.section(TABLE, ABOUT, keep=5, order="run")
