"""Versions that tables and pages of a bundle depend on: the same versions make the same bytes."""

import platform
import zlib
from importlib.metadata import distributions

from mqperf.base.version import version

DRAWN_BY = (
    *("beautifulsoup4", "docutils", "furo", "jinja2", "matplotlib", "numpy", "pandas", "pyarrow"),
    *("pygments", "scipy", "seaborn", "sphinx", "sphinx-basic-ng"),
)
"""The libraries that tables and pages depend on."""


def versions() -> dict[str, str]:
    """Return the versions of mqperf and its packages, Python, zlib, and ``DRAWN_BY``."""
    installed = {found.name.lower(): found.version for found in distributions()}
    ours = sorted(name for name in installed if name.startswith("mqperf-"))
    return {
        "mqperf": version(),
        "python": platform.python_version(),
        "zlib": zlib.ZLIB_RUNTIME_VERSION,
        **{name: installed[name] for name in (*ours, *DRAWN_BY) if name in installed},
    }


def differences(bundled: dict[str, str], here: dict[str, str]) -> list[str]:
    """Return the differences as texts such as ``mqperf 1.0.0, here 1.1.0``."""
    return [
        f"{name} {bundled.get(name, 'not there')}, here {here.get(name, 'not there')}"
        for name in {**bundled, **here}
        if bundled.get(name) != here.get(name)
    ]
