"""A trend as words, a figure and a page."""
