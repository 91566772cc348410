"""Pictures of what was measured: the nodes of a topology."""
