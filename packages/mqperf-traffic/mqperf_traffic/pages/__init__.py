"""How a replay is shown."""
