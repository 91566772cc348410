"""One value for every seam, in a package that mqperf knows by its entry points alone."""
