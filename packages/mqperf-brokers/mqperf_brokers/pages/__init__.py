"""The page, and its words."""
