"""The tables of service demands, and of predictions from them."""

from mqperf.plan.columns import Column, Table
from mqperf.plan.columns.column import count, latency, rate, ratio, share, text
from mqperf.plan.columns.runs import KEY_COLUMNS

_SWEEP = KEY_COLUMNS[2:6]
_ROLE = text(
    "role",
    "A node of the brokers, clients, servers, the host that has them all, or network.",
)
_PARAMETERS = text(
    "parameters", "What else of the load or the system these runs share, where the plan varies it."
)
_ENDS = "end of its 90 % interval."


def _with_ends(column: Column) -> tuple[Column, ...]:
    """The column, and columns for both ends of its interval."""
    ends = (("low", "Lower"), ("high", "Upper"))
    return (
        column,
        *(
            Column(
                f"{column.name}_{end}",
                column.dtype,
                f"{prefix} {_ENDS}",
                f"{column.label} {end}",
                column.unit,
                column.shown,
                column.scale,
                column.check,
            )
            for end, prefix in ends
        ),
    )


def _cores(name: str, meaning: str, label: str) -> Column:
    return Column(name, "float64", meaning, label, "cores", check="not negative")


def _cost(name: str, meaning: str, label: str) -> Column:
    return Column(name, "float64", meaning, label, "s", "µs", 1e6, "not negative")


def _byte_cost(name: str, meaning: str, label: str) -> Column:
    meaning += "; empty where one payload was measured."
    return Column(name, "float64", meaning, label, "s", "ns", 1e9, "not negative")


def _bytes(name: str, meaning: str, label: str) -> Column:
    return Column(name, "float64", meaning, label, "bytes", check="not negative")


DEMANDS = Table(
    "demands",
    "a role on a layout, and what a message costs it at half load or below, and at full load",
    (
        _PARAMETERS,
        _ROLE,
        count("runs_used", "Runs in which no role used more than half of its CPU.", "runs", ""),
        rate("rate_lowest_msg_s", "The lowest rate of these runs.", "lowest rate"),
        rate("rate_highest_msg_s", "The highest rate of these runs.", "highest rate"),
        _cores("idle_cores", "CPU that the role uses without any message.", "CPU when idle"),
        *_with_ends(
            _cost(
                "demand_s",
                "CPU time of a message, by the utilisation law U = X · D; of an empty one where"
                " ``demand_byte_s`` is known.",
                "CPU of a message at low load",
            )
        ),
        _cost("demand_sys_s", "The part of it in the kernel.", "of that in the kernel"),
        _byte_cost("demand_byte_s", "CPU time of a byte of a body", "CPU of a byte at low load"),
        *_with_ends(
            _cost(
                "demand_full_s",
                "CPU time of a message in runs in which a role, this one if there are such runs,"
                " had used up its CPU: it handles several at once then. Of an empty message where"
                " ``demand_full_byte_s`` is known.",
                "CPU of a message at full load",
            )
        ),
        _byte_cost("demand_full_byte_s", "That of a byte of a body", "CPU of a byte at full load"),
        *_with_ends(
            _bytes(
                "message_bytes",
                "Bytes over the network for a message, headers included; of an empty one where"
                " ``bytes_per_byte`` is known. Of the role network alone.",
                "network traffic of a message",
            )
        ),
        ratio("bytes_per_byte", "Bytes over the network for a byte of a body.", "bytes per byte"),
        share(
            "residual_share",
            "Standard deviation of these runs around the fit, relative.",
            "residuals",
        ),
    ),
    keys=_SWEEP,
    of_folders=True,
)

PREDICTIONS = Table(
    "predictions",
    "a role in a prediction for a layout; role all: the whole",
    (
        _PARAMETERS,
        _ROLE,
        rate("asked_rate_msg_s", "The given rate, if any.", "rate"),
        _bytes("asked_payload_bytes", "The length of bodies for which it is predicted.", "payload"),
        _cores("capacity_cores", "CPU that the role has in this prediction.", "CPU there"),
        *_with_ends(
            rate(
                "full_msg_s",
                "The rate at which it has used up its CPU; of all, the lowest of these.",
                "full at",
            )
        ),
        text(
            "full_is",
            "measured, if runs in which the role was full show that rate; at least, if none does,"
            " and the role sustains so much, or more.",
        ),
        *_with_ends(_cores("used_cores", "CPU that it uses at the given rate.", "CPU")),
        share("used_share", "The same as a share of its CPU.", "of its CPU"),
        _cores(
            "needed_cores",
            "CPU with which it would be at most 70 % busy at that rate, by the upper end.",
            "CPU needed",
        ),
        *_with_ends(latency("p50_s", "Median latency at that rate.", "p50")),
        *_with_ends(latency("p99_s", "99th percentile of latency at that rate.", "p99")),
        *_with_ends(
            Column(
                "million_cost",
                "float64",
                "Price of a million messages, in the currency of the given price of a core hour:"
                " for the CPU of the brokers, used or as many as are given.",
                "cost of a million messages",
                check="not negative",
            )
        ),
        text("extrapolated", "What of the prediction lies beyond what was measured."),
    ),
    keys=_SWEEP,
    of_folders=True,
)

BROKEN = Table(
    "broken_assumptions",
    "a run, or a layout, where something other than CPU is the limit",
    (
        _PARAMETERS,
        text("run", "The run that shows it; empty where a setting does."),
        text("assumption", "The assumption of predictions that does not hold."),
        text("because", "The figures that show it."),
        rate("limit_msg_s", "The rate beyond which nothing is predicted.", "limit"),
    ),
    keys=_SWEEP,
    of_folders=True,
)
