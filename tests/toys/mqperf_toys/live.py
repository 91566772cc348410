"""A document beside the live page: which case runs now."""

from mqperf.front.live import Document

DOCUMENT = Document("toy-case", "text/plain", lambda pulse: pulse.case.id if pulse.case else "none")
