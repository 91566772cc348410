"""How results of runs over links are shown."""
