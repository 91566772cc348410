"""Plans without a clone: what is shipped, what a person begins with, and what tools read."""
