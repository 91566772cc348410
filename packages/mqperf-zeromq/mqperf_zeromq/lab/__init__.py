"""The system."""
