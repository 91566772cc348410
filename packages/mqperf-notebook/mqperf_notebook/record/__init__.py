"""Files of a background sweep beside its runs."""
