"""The terms of what a role uses: a constant, its messages, and the bytes of their bodies.

What is busy without messages adds a constant, and a message of B bytes costs D = D0 + D1 · B.
"""

import pandas as pd

from mqperf_capacity.study.regression import Floats

IDLE, MESSAGE, BYTE = "idle", "message", "byte"
"""A constant, a message a second, a byte of body a second."""

APART = 1.2
"""Rates, or payloads, that differ by less are as good as one."""


def terms_at(rate: float, payload: float | None) -> dict[str, float]:
    """The terms of a rate and a length of bodies."""
    return {IDLE: 1.0, MESSAGE: rate, BYTE: rate * (payload or 0.0)}


def of_message(payload: float | None) -> dict[str, float]:
    """The terms of one message with a body of this length, beside the constant."""
    return {MESSAGE: 1.0, BYTE: payload or 0.0}


def terms_of(runs: pd.DataFrame) -> dict[str, Floats]:
    """The terms of messages, by ``rate`` and ``body_bytes``; of bytes where lengths differ."""
    rates = runs["rate"].to_numpy(float)
    terms = {MESSAGE: rates}
    payload = runs["body_bytes"]
    if payload.notna().all() and apart(payload):
        terms[BYTE] = rates * payload.to_numpy(float)
    return terms


def apart(values: pd.Series) -> bool:
    """Whether they tell what differs with them."""
    return len(values) > 1 and bool(values.max() >= APART * values.min())
