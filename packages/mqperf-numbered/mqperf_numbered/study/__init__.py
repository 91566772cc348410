"""What the records of such loads tell beyond the tables of every run."""
