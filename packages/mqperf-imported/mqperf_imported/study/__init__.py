"""What is read of runs of other tools, and of published reports."""
