"""Who listens on a port of this machine."""

from contextlib import suppress

import psutil

from mqperf.guarded import ForeignProcess


def listener(label: str, address: str, port: int, program: str) -> ForeignProcess | None:
    """The process of a program that listens on a port of an address of ours, if we may see it.

    None when the address is another machine's, and for any other program: what only forwards the
    port is not what is meant.
    """
    own = {entry.address for card in psutil.net_if_addrs().values() for entry in card}
    if address not in own:
        return None
    for connection in psutil.net_connections("tcp"):
        listens = connection.status == psutil.CONN_LISTEN and connection.laddr[1:] == (port,)
        if listens and connection.pid:
            with suppress(psutil.NoSuchProcess):
                process = psutil.Process(connection.pid)
                if process.name() == program:
                    return ForeignProcess(label, process.pid, process.create_time())
    return None
