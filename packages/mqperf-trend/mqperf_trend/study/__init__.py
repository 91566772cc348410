"""References of folders, and the verdicts on steps from them."""
