"""Commands, settings and logging of servers in Java."""
