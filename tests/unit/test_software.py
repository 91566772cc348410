"""The target platform of packages, and the instructions to their installers."""

import os

import pytest

from mqperf.hosts.software import Platform, here, installers


def test_the_c_library_is_the_one_that_is_there() -> None:
    """Code compiled here may need a newer one than the oldest that this Python supports."""
    if "CS_GNU_LIBC_VERSION" not in os.confstr_names:
        pytest.skip("no glibc")
    assert here().libc == os.confstr("CS_GNU_LIBC_VERSION")


OURS = Platform("3.11.7", "x86_64", "glibc 2.36")


@pytest.mark.parametrize(
    ("target", "takes"),
    [
        (OURS, True),
        (Platform("3.11.2", "x86_64", "glibc 2.36"), True),
        (Platform("3.11.7", "x86_64", "glibc 2.41"), True),
        (Platform("3.11.7", "x86_64", "glibc 2.100"), True),
        (Platform("3.11.7", "x86_64", "glibc 2.31"), False),
        (Platform("3.11.7", "x86_64", "glibc 2.4"), False),
        (Platform("3.11.7", "x86_64", "musl 2.36"), False),
        (Platform("3.11.7", "aarch64", "glibc 2.36"), False),
        (Platform("3.1.7", "x86_64", "glibc 2.36"), False),
        (Platform("3.12.7", "x86_64", "glibc 2.36"), False),
    ],
)
def test_builds_run_on_compatible_hosts(target: Platform, takes: bool) -> None:  # noqa: FBT001
    """Python and processor must be equal, the C library equal or newer, compared as versions."""
    assert target.takes_what_is_built_on(OURS) == takes


@pytest.mark.parametrize(
    ("target", "tag"),
    [
        (Platform("3.12.1", "aarch64", "glibc 2.39"), "aarch64-manylinux_2_28"),
        (Platform("3.11.2", "x86_64", "musl 1.2.4"), "x86_64-unknown-linux-musl"),
    ],
)
def test_platforms_have_the_names_that_uv_knows(target: Platform, tag: str) -> None:
    """For the C library it is the oldest standard that all supported hosts meet."""
    assert target.tag == tag


@pytest.mark.starts_programs
def test_uv_uses_the_certificates_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """An explicit setting overrides it."""
    command = ["sh", "-c", "echo $UV_SYSTEM_CERTS"]
    monkeypatch.delenv("UV_SYSTEM_CERTS", raising=False)
    assert installers.output("nothing", command) == "1\n"
    monkeypatch.setenv("UV_SYSTEM_CERTS", "0")
    assert installers.output("nothing", command) == "0\n"
