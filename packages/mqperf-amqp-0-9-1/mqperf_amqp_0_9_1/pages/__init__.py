"""What pages and notebooks show of these loads."""
