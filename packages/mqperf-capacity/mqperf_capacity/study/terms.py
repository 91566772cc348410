"""The terms of a role's CPU: a constant, its messages, and the bytes of their bodies.

Work without messages is the constant, and a message of B bytes costs D = D0 + D1 · B.
"""

import pandas as pd

from mqperf_capacity.study.regression import Floats

IDLE, MESSAGE, BYTE = "idle", "message", "byte"
"""A constant, a message a second, a byte of body a second."""

APART = 1.2
"""Ratio of rates, or payloads, below which they are too similar to fit their effect."""


def terms_at(rate: float, payload: float | None) -> dict[str, float]:
    """The terms of a rate and a length of bodies."""
    return {IDLE: 1.0, MESSAGE: rate, BYTE: rate * (payload or 0.0)}


def of_message(payload: float | None) -> dict[str, float]:
    """The terms of one message with a body of this length, without the constant."""
    return {MESSAGE: 1.0, BYTE: payload or 0.0}


def terms_of(runs: pd.DataFrame) -> dict[str, Floats]:
    """The term of messages, from ``rate``; and of bytes where lengths of bodies differ enough."""
    rates = runs["rate"].to_numpy(float)
    terms = {MESSAGE: rates}
    payload = runs["body_bytes"]
    if payload.notna().all() and apart(payload):
        terms[BYTE] = rates * payload.to_numpy(float)
    return terms


def apart(values: pd.Series) -> bool:
    """Whether the values differ enough to fit their effect."""
    return len(values) > 1 and bool(values.max() >= APART * values.min())
