"""Mixed lengths of messages: the length of each, and blocks of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqperf.plan import Case
from mqperf_amqp_0_9_1.plan.parameters import GENERATOR
from mqperf_numbered.onhost import stamps
from mqperf_numbered.onhost.messages import Mix, drawn
from mqperf_numbered.plan.mixes import mean_bytes, mix_of

MIX = "90 % of 256 + 9.5 % of 4096 + 0.5 % of 65536"


@pytest.mark.parametrize(
    "text",
    [
        "100 % of 256",
        "90 % of 256 + 20 % of 65536",
        "50 % of 256 + 50 % of 256",
        "0 % of 64 + 100 % of 256",
        "90% of 256 and 10% of 65536",
    ],
)
def test_what_is_no_mix_is_refused(text: str) -> None:
    """A single length, a wrong sum, a repeated length, a zero share, another format."""
    with pytest.raises(ValueError, match="different lengths with shares that make 100 %") as error:
        mix_of(text)
    assert str(error.value).endswith(f"got {text!r}")


def test_every_length_of_a_mix_is_one_of_bodies() -> None:
    """Each length has room for a stamp and respects the maximum."""
    with pytest.raises(ValueError, match="a stamp of 32 bytes"):
        mix_of("90 % of 31 + 10 % of 256")
    with pytest.raises(ValueError, match="at most 10,000,000 bytes, got 20,000,000"):
        mix_of("90 % of 256 + 10 % of 20000000")


def test_a_mix_has_its_mean_as_its_length() -> None:
    """payload_bytes becomes the mean, which tables and checks use."""
    fixed = {"system": "rabbitmq", "topology": "cmsm", "queues": "classic", "test_case": "publish"}
    sizes = {"payload_mix": MIX, "payload_bytes": 99}
    load = {"generator": "amqp-0-9-1", "green_threads": 1, "duration_s": 5, "parameters": sizes}
    resolved = GENERATOR.resolved(Case.model_validate(fixed | load))
    assert (resolved["payload_mix"], resolved["payload_bytes"]) == (MIX, 947)
    assert mean_bytes(mix_of(MIX)) == round(0.9 * 256 + 0.095 * 4096 + 0.005 * 65536)


@given(st.integers(0, 10**10), st.integers(0, 5000), st.integers(0, 999))
def test_any_part_of_a_load_has_the_shares(first: int, sender: int, cut: int) -> None:
    """To a few of a thousand; a message's length does not depend on its block."""
    shares = [share for share, _ in mix_of(MIX)]
    numbers = np.arange(first, first + 1000)
    forms = drawn(numbers, sender, shares)
    assert np.bincount(forms, minlength=3) == pytest.approx([900, 95, 5], abs=5)
    assert (drawn(numbers[cut:], sender, shares) == forms[cut:]).all()


def test_a_block_of_a_mix_is_whole_to_the_message() -> None:
    """Each is its form with its stamp; the number of messages follows from the bytes sent."""
    forms = [bytes([length]) * length for length in (40, 50, 90)]
    mix = Mix(forms, (0.5, 0.3, 0.2), 3, 64)
    mix.stamps["sender"], mix.stamps["number"] = 7, np.arange(100, 164)
    content, ends, at = bytes(mix.content(slice(10, 40))), [0], 0
    for place, form in enumerate(drawn(np.arange(110, 140), 7, mix.shares), 10):
        stamp, message = mix.stamps[place].tobytes(), forms[form]
        ends.append(at := at + len(message))
        assert content[ends[-2] : at] == message[:3] + stamp + message[3 + stamps.SIZE :]
    assert at == len(content)
    assert [mix.handed_over(end) for end in ends] == [*range(31)]
    assert [mix.handed_over(end - 1) for end in ends[1:]] == [*range(30)]
