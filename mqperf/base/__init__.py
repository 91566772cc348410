"""What everybody may use, and which knows no queue."""
