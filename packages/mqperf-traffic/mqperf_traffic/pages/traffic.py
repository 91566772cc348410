"""The section that compares replays with their profiles, a row for each run."""

from mqperf_numbered.pages import parts
from mqperf_traffic.study.traffic import TABLE

WORDS = (
    "The load replays a traffic profile: for each route as many messages in each second, of its"
    " lengths, to as many queues. A second is off if what was sent in it differs by more than 2 %;"
    " a route, if its messages in the whole load do. The distance of lengths is the largest"
    " difference of the two cumulative distributions."
)

ABOUT = "The replay and its profile", "replays of traffic", WORDS

SECTION = parts.section(TABLE, ABOUT, keep=len(TABLE.own), order="run")
