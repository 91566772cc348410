"""What the brokers tell of their inside, as figures; what loads tell beside every message."""
