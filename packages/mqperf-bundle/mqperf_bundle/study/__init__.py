"""Comparison of the tables of a bundle with those made from its runs."""
