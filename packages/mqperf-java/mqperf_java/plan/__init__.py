"""What a plan may vary of servers in Java."""
