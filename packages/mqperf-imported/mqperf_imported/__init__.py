"""Importers of mqperf: runs that Maestro and quiver measured become its tables."""
