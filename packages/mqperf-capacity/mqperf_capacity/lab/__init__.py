"""Applying quotas to processes, and the probe of quotas."""
