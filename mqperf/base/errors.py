"""What can go wrong, one class per room.

Every message is one sentence which names the source (file, line, host, URL without its password)
and who should do what.  The command line prints it and exits with code 2: no traceback for a
user's mistake.
"""

from mqperf.onhost.errors import HostError, MqperfError, OneLine

__all__ = [
    "HostError",
    "HostLost",
    "InstallError",
    "Interrupted",
    "LoadError",
    "MqperfError",
    "PlanError",
    "PluginError",
    "ProbeError",
    "RecordError",
    "ReportError",
    "SystemFault",
    "TableError",
]


class Interrupted(OneLine, KeyboardInterrupt):
    """Somebody interrupted a sweep, whose runs are kept."""


class PlanError(MqperfError):
    """A plan that cannot be read, or that asks for what does not exist."""


class RecordError(MqperfError):
    """A run folder that cannot be written, read or trusted."""


class LoadError(MqperfError):
    """A load generator that did not start, died, or left no sound output."""


class InstallError(MqperfError):
    """Software that programs of mqperf need, and that could not be installed."""


class ProbeError(MqperfError):
    """A probe that did not start or left no sound log."""


class PluginError(MqperfError):
    """A package that adds something to mqperf, and cannot be used."""


class HostLost(HostError):
    """A host that answered before and does not any more."""


class SystemFault(MqperfError):
    """A system under test that is missing, refused us, or died."""


class TableError(MqperfError):
    """A table that does not hold what its register entry promises."""


class UnknownTableError(TableError, KeyError):
    """A table that there is not; a mapping without a key raises ``KeyError``."""

    __str__ = Exception.__str__  # not quoted, as a key is


class ReportError(MqperfError):
    """A report that cannot be built."""
