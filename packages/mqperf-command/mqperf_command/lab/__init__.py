"""How commands are run as a load, and scripts as an action."""
