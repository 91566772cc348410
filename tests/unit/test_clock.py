"""The offset of another clock: its bound holds, whatever the network does."""

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from mqperf.hosts import clock
from mqperf.hosts.clock import Echo, Offset
from mqperf.onhost.machine.kernel_clock import kernel_clock

DELAYS_S = st.floats(1e-6, 1.0)


def echoes(true_offset_s: float, ways: list[tuple[float, float]]) -> Iterator[Echo]:
    """Exchanges with these delays there and back."""
    now_s = 1_000.0
    for there, back in ways:
        yield Echo(now_s, now_s + there + true_offset_s, now_s + there + back)
        now_s += there + back + 0.001


@given(
    st.floats(-10, 10), st.lists(st.tuples(DELAYS_S, DELAYS_S), min_size=1, max_size=clock.ECHOES)
)
def test_the_true_offset_is_within_the_bound(
    true_offset_s: float, ways: list[tuple[float, float]]
) -> None:
    """This holds however unequal both ways are; the bound is half the fastest exchange."""
    taken = echoes(true_offset_s, ways)
    offset = clock.offset(lambda: next(taken), len(ways))
    assert abs(offset.offset_s - true_offset_s) <= offset.bound_s + 1e-9
    assert abs(offset.bound_s - min(map(sum, ways)) / 2) < 1e-9


def test_an_exchange_without_time_is_no_exchange() -> None:
    """If our clock was set back meanwhile, the bound does not become zero."""
    taken = iter([Echo(10.0, 10.5, 10.0), Echo(10.0, 10.5, 9.0), Echo(10.0, 10.502, 10.004)])
    offset = clock.offset(lambda: next(taken), 3)
    assert abs(offset.offset_s - 0.5) < 1e-9
    assert abs(offset.bound_s - 0.002) < 1e-9


def test_an_offset_is_shown_in_milliseconds() -> None:
    """The text has its sign and its bound."""
    assert Offset(0.5, 0.000_087).text() == "+500.000 ms ± 0.087 ms"


def test_the_kernel_reports_on_its_clock() -> None:
    """It says whether the clock is synchronised, and by how much it may be wrong."""
    facts = kernel_clock()
    assert facts is not None
    assert facts["synchronised"] in {True, False}
    assert facts["max_error_s"] >= 0
    assert abs(facts["frequency_ppm"]) <= 500
