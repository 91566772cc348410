"""What records of atop tell of a run."""
