"""The life of one client or server: prepared, ready, started, and saved whatever happened."""

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
    """What is recorded: with a rate, when messages were due stands beside when they were sent."""
    if orders.kind == "server":
        return ["received", *(["service"] if orders.paced else [])]
    return ["sent", "error", *(["handover"] if orders.paced else []), *of_clients]


def live(
    generator: str,
    orders: Orders,
    streams: Sequence[str],
    role: Callable[[Control, Record, Diary], Role[Any]],
) -> None:
    """Be that client or server; ends the process with the words of the other end if not."""
    control = Control(orders.control, orders.label)
    diary = Diary(generator, orders.label, orders.kind)
    control.heed_signals()
    tally = Tally(orders.label, orders.kind, orders.test_case, 0.0, streams)
    record = Record(tally, orders.sender)
    program = role(control, record, diary)
    gc.disable()  # nothing here is cyclic that is not for ever
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
        named = str(error).startswith(tuple(addresses))  # whichever was lost
        sys.exit(str(error) if named else f"{addresses[0]}: {error}")
    finally:
        if tally.start:
            record.save(orders.out / f"{orders.label}.counts")
        diary.save(orders.out / f"{orders.label}.json")
