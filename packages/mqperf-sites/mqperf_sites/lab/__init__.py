"""How two sites are started and joined."""
