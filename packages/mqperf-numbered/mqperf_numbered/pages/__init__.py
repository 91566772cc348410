"""How that is shown."""
