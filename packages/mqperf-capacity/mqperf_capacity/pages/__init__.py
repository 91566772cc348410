"""How quotas and predictions are shown."""
