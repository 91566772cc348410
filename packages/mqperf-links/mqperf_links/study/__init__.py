"""What runs over links say together."""
