"""The layout of the stamp that every message carries, without numpy."""

FIELDS = (
    ("run", "<u4"),
    ("sender", "<u4"),
    ("number", "<i8"),
    ("due_ns", "<i8"),
    ("sent_ns", "<i8"),
)
"""Names and types; a type ends with its number of bytes."""

SIZE = sum(int(code[-1]) for _, code in FIELDS)
