"""Build hook: samples are at the top of a checkout, and beside the plans of mqperf in a wheel."""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Samples(BuildHookInterface[Any]):
    """Put the samples into the wheel, unless it is an editable one."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # type: ignore[explicit-override]
        """Add the samples to the builder's files."""
        if version != "editable":
            build_data["force_include"]["../../data/samples"] = "mqperf/shipped/data/samples"
