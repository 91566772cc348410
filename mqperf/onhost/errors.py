"""What can go wrong on a host; all else is in ``base.errors``."""


class OneLine(BaseException):
    """What a cell of a notebook shows as one line."""

    def _render_traceback_(self) -> list[str]:
        """Give what it shows instead of a traceback: IPython asks for it."""
        return [f"mqperf: {self}"]


class MqperfError(OneLine, Exception):
    """Anything mqperf can explain."""


class HostError(MqperfError):
    """A host that refused us a process, a port or a folder."""
