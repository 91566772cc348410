"""What a plan may say of a command, and when it counts as finished."""
