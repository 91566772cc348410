"""The section that compares replays with their profiles, a row for each run."""

from mqperf_numbered.pages import parts
from mqperf_traffic.study.traffic import TABLE

WORDS = (
    "The load replays a traffic profile: each route gets as many messages in each second, of the"
    " recorded lengths, to as many queues. A second is off if its number of messages differs by"
    " more than 2 %; a route, if its number in the whole load does. The distance of lengths is the"
    " largest difference between the two cumulative distributions."
)

ABOUT = "The replay and its profile", "replays of traffic", WORDS

SECTION = parts.section(TABLE, ABOUT, keep=len(TABLE.own), order="run")
