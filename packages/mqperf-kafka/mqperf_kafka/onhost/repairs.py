"""Repairs that the simulator needs with oslo.messaging's driver for Kafka."""

from types import ModuleType


def flush_at_end(simulator: ModuleType) -> None:
    """Have clients clean up their transport before they end, as services do.

    The driver passes notifications to a thread of the library, which sends them later; those that
    are unsent when the process ends are lost.  Only the clean-up waits for them, and the simulator
    does not call it.
    """
    show_client_stats = simulator.show_client_stats

    def clean_up_and_show(*arguments: object, **named: object) -> None:
        simulator.TRANSPORT.cleanup()
        show_client_stats(*arguments, **named)

    vars(simulator)["show_client_stats"] = clean_up_and_show
