"""The log of the probe of quotas."""
