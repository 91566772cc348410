"""The page of all cells."""
