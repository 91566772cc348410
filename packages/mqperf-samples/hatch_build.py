"""Samples stand at the top of a checkout; in a wheel they stand beside the plans of mqperf."""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Samples(BuildHookInterface[Any]):
    """Put them into the wheel, unless it is for whoever works in a checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # type: ignore[explicit-override]
        """Tell the builder."""
        if version != "editable":
            build_data["force_include"]["../../data/samples"] = "mqperf/shipped/data/samples"
