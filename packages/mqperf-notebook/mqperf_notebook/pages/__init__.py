"""What of results can be chosen, and how a choice is shown."""
