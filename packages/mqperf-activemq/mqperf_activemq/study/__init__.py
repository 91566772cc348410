"""What the brokers tell of their inside, as figures."""
