"""One process of an mqperf run: a package for each generator, and what they share."""
