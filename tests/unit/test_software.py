"""What packages are built for, and what their installers are told."""

import os

import pytest

from mqperf.hosts.software import Platform, here, installers


def test_the_c_library_is_the_one_that_is_there() -> None:
    """Not the oldest with which our Python would start: what is compiled here may need more."""
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
def test_what_is_built_here_runs_on_hosts_alike(target: Platform, takes: bool) -> None:  # noqa: FBT001
    """The same Python, processor and C library, which may be newer, as versions are compared."""
    assert target.takes_what_is_built_on(OURS) == takes


@pytest.mark.parametrize(
    ("target", "tag"),
    [
        (Platform("3.12.1", "aarch64", "glibc 2.39"), "aarch64-manylinux_2_28"),
        (Platform("3.11.2", "x86_64", "musl 1.2.4"), "x86_64-unknown-linux-musl"),
    ],
)
def test_platforms_have_the_names_that_uv_knows(target: Platform, tag: str) -> None:
    """Of the C library, the oldest standard that all supported hosts meet."""
    assert target.tag == tag


@pytest.mark.starts_programs
def test_uv_trusts_whom_the_machine_trusts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless it was told otherwise."""
    told = ["sh", "-c", "echo $UV_SYSTEM_CERTS"]
    monkeypatch.delenv("UV_SYSTEM_CERTS", raising=False)
    assert installers.output("nothing", told) == "1\n"
    monkeypatch.setenv("UV_SYSTEM_CERTS", "0")
    assert installers.output("nothing", told) == "0\n"
