"""A network device whose packets are never read, for as long as this program runs.

Device and routes through it vanish with the program, however it ends.  Its argument is the name of
the device.  Prints ``ready``, or the reason.
"""

import sys
import time

from .devices import Device

OWN = "/proc/self/ns/net"


def main(name: str) -> None:
    """Create the device, and run until killed."""
    try:
        Device(OWN, name)
    except OSError as error:
        sys.exit(f"{error.filename or '/dev/net/tun'}: {error.strerror}")
    print("ready", flush=True)
    while True:
        time.sleep(3600)


main(*sys.argv[1:])
