"""How a record writes instants down."""

from datetime import UTC, datetime


def utc(epoch: float) -> str:
    """An instant as ISO 8601 in UTC with milliseconds."""
    return datetime.fromtimestamp(epoch, UTC).isoformat(timespec="milliseconds")
