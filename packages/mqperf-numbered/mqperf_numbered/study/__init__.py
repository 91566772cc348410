"""Tables and checks of such loads, beyond the tables of every run."""
