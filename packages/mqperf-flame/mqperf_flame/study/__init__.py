"""What the record tells, and what it is held against."""
