"""What was replayed, beside the profile."""
