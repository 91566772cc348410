"""What quotas did in a run, what messages cost, and what follows from it."""
