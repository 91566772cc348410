"""How the messages of partitions are shown."""
