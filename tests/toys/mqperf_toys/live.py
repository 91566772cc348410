"""A document beside the live page: the running case."""

from mqperf_live.front.page import Document

DOCUMENT = Document("toy-case", "text/plain", lambda pulse: pulse.case.id if pulse.case else "none")
