"""How processes get their quotas, and the probe that watches these."""
