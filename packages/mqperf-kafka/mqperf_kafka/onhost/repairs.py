"""Repairs that the simulator needs with oslo.messaging's driver for Kafka."""

from types import ModuleType


def flush_at_end(simulator: ModuleType) -> None:
    """Have clients clean their transport up before they end, as services do.

    The driver hands notifications over to a thread of the library, which sends them later; those
    that it still has when the process ends are lost.  Only the clean-up waits for them, and the
    simulator leaves it out.
    """
    show_client_stats = simulator.show_client_stats

    def clean_up_and_show(*arguments: object, **named: object) -> None:
        simulator.TRANSPORT.cleanup()
        show_client_stats(*arguments, **named)

    vars(simulator)["show_client_stats"] = clean_up_and_show
