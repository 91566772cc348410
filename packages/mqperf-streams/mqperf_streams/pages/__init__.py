"""The section about messages of partitions."""
