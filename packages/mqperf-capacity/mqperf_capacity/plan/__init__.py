"""The settings of quotas in plans, and the tables of predictions."""
