"""The definition of a column, and constructors for common kinds of columns."""

from dataclasses import dataclass, replace
from typing import Literal

Dtype = Literal["string", "int64", "Int64", "float64", "datetime64[us, UTC]"]
Check = Literal["any", "not negative", "positive", "name"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    ``unit`` is the unit in which values are stored (SI), ``shown`` the unit for display, and
    ``scale`` the factor from stored to displayed values.  A ``parameter`` can be varied by plans,
    as the number of threads can: a list of values for it is an axis.
    """

    name: str
    dtype: Dtype
    meaning: str
    label: str = ""
    unit: str = ""
    shown: str = ""
    scale: float = 1.0
    check: Check = "any"
    parameter: bool = False

    def heading(self, subject: str = "") -> str:
        """Return a heading as in the published reports: ``latency, ms``, ``RabbitMQ CPU, %``."""
        label = " ".join(word for word in (subject, self.label or self.name) if word)
        unit = self.shown or self.unit
        return f"{label}, {unit}" if unit else label


def text(name: str, meaning: str, label: str = "") -> Column:
    """A column of text."""
    return Column(name, "string", meaning, label)


def name(name: str, meaning: str) -> Column:
    """A column of text that becomes a part of file and folder names."""
    return Column(name, "string", meaning, check="name")


def count(name: str, meaning: str, label: str = "", unit: str = "msg") -> Column:
    """A count of messages, or of what ``unit`` names; 0 or more."""
    return Column(name, "Int64", meaning, label, unit, check="not negative")


def number(name: str, meaning: str, label: str = "") -> Column:
    """A number of things, or the ordinal of one; 1 or more."""
    return Column(name, "Int64", meaning, label, check="positive")


def ratio(name: str, meaning: str, label: str = "") -> Column:
    """A ratio, or another computed number; more than 0."""
    return Column(name, "float64", meaning, label, check="positive")


def parameter(column: Column) -> Column:
    """Return the column as a parameter, which plans may vary."""
    return replace(column, parameter=True)


def rate(name: str, meaning: str, label: str) -> Column:
    """A rate in messages per second."""
    return Column(name, "float64", meaning, label, "msg/s", "msg/sec", check="not negative")


def latency(name: str, meaning: str, label: str) -> Column:
    """A duration in seconds, shown in milliseconds."""
    return Column(name, "float64", meaning, label, "s", "ms", 1e3)


def seconds(name: str, meaning: str, label: str, check: Check = "any") -> Column:
    """A time or duration in seconds, shown as such."""
    return Column(name, "float64", meaning, label, "s", check=check)


def share(name: str, meaning: str, label: str) -> Column:
    """A share of 1, shown in per cent."""
    return Column(name, "float64", meaning, label, "", "%", 1e2, "not negative")


def cpu(name: str, meaning: str, label: str) -> Column:
    """CPU use as a number of hardware threads, shown in per cent of one."""
    return Column(name, "float64", meaning, label, "cores", "%", 1e2, "not negative")


def memory(name: str, meaning: str, label: str) -> Column:
    """Bytes of memory, shown in mebibytes."""
    return Column(name, "Int64", meaning, label, "bytes", "MiB", 2**-20)


def traffic(name: str, meaning: str, label: str) -> Column:
    """Network traffic in bytes per second, shown in megabytes per second."""
    return Column(name, "float64", meaning, label, "bytes/s", "MB/s", 1e-6, "not negative")
