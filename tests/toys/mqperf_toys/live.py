"""A document beside the live page: which case runs now."""

from mqperf_live.front.page import Document

DOCUMENT = Document("toy-case", "text/plain", lambda pulse: pulse.case.id if pulse.case else "none")
