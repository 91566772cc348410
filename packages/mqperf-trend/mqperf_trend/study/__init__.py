"""What is compared with what, and judged."""
