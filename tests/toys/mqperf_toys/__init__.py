"""A value for every extension point, in a package that mqperf finds by its entry points."""
