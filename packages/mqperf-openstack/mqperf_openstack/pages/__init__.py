"""How what was recorded of a creation is shown."""
