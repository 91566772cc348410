"""Exceptions of mqperf, one class per part of it.

Every message is one sentence that names the source (file, line, host, URL without its password)
and says who should do what.  The command line prints it and exits with code 2, without a traceback.
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
    """A sweep was interrupted; its finished runs are kept."""


class PlanError(MqperfError):
    """A plan that cannot be read, or that names something unknown."""


class RecordError(MqperfError):
    """A run folder that cannot be written, read or trusted."""


class LoadError(MqperfError):
    """A load generator that did not start, died, or left no valid output."""


class InstallError(MqperfError):
    """Required software that could not be installed."""


class ProbeError(MqperfError):
    """A probe that did not start or left no valid log."""


class PluginError(MqperfError):
    """An installed plugin package that cannot be used."""


class HostLost(HostError):
    """A host that answered before and no longer does."""


class SystemFault(MqperfError):
    """A system under test that is missing, refused a connection, or died."""


class TableError(MqperfError):
    """A table whose content contradicts its definition."""


class UnknownTableError(TableError, KeyError):
    """An unknown table name; also a ``KeyError``, as mappings raise for a missing key."""

    __str__ = Exception.__str__  # KeyError would put the message in quotes


class ReportError(MqperfError):
    """A report that cannot be built."""
