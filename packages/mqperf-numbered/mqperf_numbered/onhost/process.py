"""The life cycle of a client or server: prepared, ready, run, and always saved at its end."""

import gc
import sys
from collections.abc import Callable, Sequence
from typing import Any

from mqperf.onhost.load.control import Control
from mqperf_numbered.onhost.broker import Lost, Refused
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.orders import Orders, ThreadOrders
from mqperf_numbered.onhost.record import Record
from mqperf_numbered.onhost.roles import Role
from mqperf_numbered.onhost.tally import Tally


def recorded(orders: ThreadOrders, *of_clients: str) -> list[str]:
    """Return the streams to record; with a rate, also those that tell due from sending times."""
    if orders.kind == "server":
        return ["received", *(["service"] if orders.paced else [])]
    return ["sent", "error", *(["handover"] if orders.paced else []), *of_clients]


def live(
    generator: str,
    orders: Orders,
    streams: Sequence[str],
    role: Callable[[Control, Record, Diary], Role[Any]],
) -> None:
    """Run as a client or server; exits with the broker's message if the connection fails."""
    control = Control(orders.control, orders.label)
    diary = Diary(generator, orders.label, orders.kind)
    control.heed_signals()
    tally = Tally(orders.label, orders.kind, orders.test_case, 0.0, streams)
    record = Record(tally, orders.sender)
    program = role(control, record, diary)
    gc.disable()  # the only reference cycles live as long as the process
    try:
        program.prepare()
        control.say("ready")
        while (start := control.start()) is None and not control.stopping:
            program.attend()
        if start is not None:
            tally.start = tally.header["start"] = start
            program.run(start)
    except (Lost, Refused) as error:
        addresses = orders.broker.addresses
        has_address = str(error).startswith(tuple(addresses))
        sys.exit(str(error) if has_address else f"{addresses[0]}: {error}")
    finally:
        if tally.start:
            record.save(orders.out / f"{orders.label}.counts")
        diary.save(orders.out / f"{orders.label}.json")
