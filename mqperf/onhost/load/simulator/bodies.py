"""Message bodies with the simulator's lengths and letters, but reproducible and 50 times faster.

The simulator draws each of some 3.3 million lower-case letters by ``random.choice``, which keeps
every client busy for half a second or more.
"""

import random
from types import ModuleType

from mqperf.onhost.load.random_text import letters

MOST_LETTERS = 8_000_000
"""Most letters of all bodies of one length together; clients use them in turn."""


def quick_bodies(simulator: ModuleType, seed: int, payload: int | None = None) -> None:
    """Replace the simulator's ``generate_messages``; equal seeds give equal bodies.

    Their lengths are from the simulator's table, or all are ``payload``.
    """

    def generate_messages(count: int) -> None:
        random.seed(seed)
        number = min(count, simulator.MESSAGES_LIMIT)
        if payload is None:
            length = simulator.init_random_generator()
            bodies = [letters(length()) for _ in range(number)]
        else:
            bodies = [letters(payload) for _ in range(min(number, 1 + MOST_LETTERS // payload))]
        simulator.MESSAGES.extend(bodies)

    vars(simulator)["generate_messages"] = generate_messages
