"""What each load generator's own output says of a run."""
