"""What a column is, and the kinds of columns that there are many of."""

from dataclasses import dataclass, replace
from typing import Literal

Dtype = Literal["string", "int64", "Int64", "float64", "datetime64[us, UTC]"]
Check = Literal["any", "not negative", "positive", "name"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    ``unit`` is how values are stored (SI), ``shown`` how a person reads them and ``scale`` what a
    stored value is multiplied by for that.  A ``parameter`` is what plans may vary beside the
    number of threads: a list of values for it is an axis.
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
        """Heading as the published reports write it: ``latency, ms``, ``RabbitMQ CPU, %``."""
        label = " ".join(part for part in (subject, self.label or self.name) if part)
        unit = self.shown or self.unit
        return f"{label}, {unit}" if unit else label


def text(name: str, meaning: str, label: str = "") -> Column:
    """Words, as they are."""
    return Column(name, "string", meaning, label)


def name(name: str, meaning: str) -> Column:
    """Text that becomes the name of folders and files."""
    return Column(name, "string", meaning, check="name")


def count(name: str, meaning: str, label: str = "", unit: str = "msg") -> Column:
    """A number of messages, or of what ``unit`` says."""
    return Column(name, "Int64", meaning, label, unit, check="not negative")


def number(name: str, meaning: str, label: str = "") -> Column:
    """How many of something there are, or which of them it is: from 1."""
    return Column(name, "Int64", meaning, label, check="positive")


def ratio(name: str, meaning: str, label: str = "") -> Column:
    """How many times something, or a number that was computed: more than 0."""
    return Column(name, "float64", meaning, label, check="positive")


def parameter(column: Column) -> Column:
    """The same column as one that plans may vary."""
    return replace(column, parameter=True)


def rate(name: str, meaning: str, label: str) -> Column:
    """Messages per second."""
    return Column(name, "float64", meaning, label, "msg/s", "msg/sec", check="not negative")


def latency(name: str, meaning: str, label: str) -> Column:
    """A duration that is shown in milliseconds."""
    return Column(name, "float64", meaning, label, "s", "ms", 1e3)


def seconds(name: str, meaning: str, label: str, check: Check = "any") -> Column:
    """A time or duration that is shown in seconds."""
    return Column(name, "float64", meaning, label, "s", check=check)


def share(name: str, meaning: str, label: str) -> Column:
    """A share of one, shown in per cent."""
    return Column(name, "float64", meaning, label, "", "%", 1e2, "not negative")


def cpu(name: str, meaning: str, label: str) -> Column:
    """Hardware threads in use, shown in per cent of one."""
    return Column(name, "float64", meaning, label, "cores", "%", 1e2, "not negative")


def memory(name: str, meaning: str, label: str) -> Column:
    """Bytes of memory; a person reads mebibytes."""
    return Column(name, "Int64", meaning, label, "bytes", "MiB", 2**-20)


def traffic(name: str, meaning: str, label: str) -> Column:
    """Bytes per second, shown in megabytes."""
    return Column(name, "float64", meaning, label, "bytes/s", "MB/s", 1e-6, "not negative")
