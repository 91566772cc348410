"""Message bodies: the simulator's own lengths and letters, made 50 times quicker and repeatably.

The simulator draws each of some 3.3 million lower-case letters by ``random.choice``, which keeps
every client busy for half a second or more.
"""

import random
from types import ModuleType

from mqperf.onhost.load.random_text import letters

MOST_LETTERS = 8_000_000
"""Of all bodies of one length together; clients use them in turn."""


def quick_bodies(simulator: ModuleType, seed: int, payload: int | None = None) -> None:
    """Replace the simulator's ``generate_messages``; equal seeds give equal bodies.

    They have the lengths of the simulator's table, or all of them the same one.
    """

    def generate_messages(count: int) -> None:
        random.seed(seed)
        wanted = min(count, simulator.MESSAGES_LIMIT)
        if payload is None:
            length = simulator.init_random_generator()
            bodies = [letters(length()) for _ in range(wanted)]
        else:
            bodies = [letters(payload) for _ in range(min(wanted, 1 + MOST_LETTERS // payload))]
        simulator.MESSAGES.extend(bodies)

    vars(simulator)["generate_messages"] = generate_messages
