"""What the log tells, and the causes that it and other tables hold evidence of."""
