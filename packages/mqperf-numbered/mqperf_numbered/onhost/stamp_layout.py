"""The layout of the stamp that every message carries, for those who need no array of stamps."""

FIELDS = (
    ("run", "<u4"),
    ("sender", "<u4"),
    ("number", "<i8"),
    ("due_ns", "<i8"),
    ("sent_ns", "<i8"),
)
"""Names and types, which end with how many bytes they take."""

SIZE = sum(int(code[-1]) for _, code in FIELDS)
