"""What generators share whose messages carry a number and the instant at which they were due."""
