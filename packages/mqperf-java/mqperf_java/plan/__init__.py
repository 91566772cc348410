"""Columns of plan settings of servers in Java."""
