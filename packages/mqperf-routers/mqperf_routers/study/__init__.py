"""What routers told of their inside, as figures."""
