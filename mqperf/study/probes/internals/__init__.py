"""What nodes told of their inside, as figures and tables."""
