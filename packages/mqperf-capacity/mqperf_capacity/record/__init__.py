"""What is recorded of quotas."""
