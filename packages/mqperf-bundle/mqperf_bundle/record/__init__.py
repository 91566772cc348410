"""Content of a bundle: copies of runs, renamed hosts, manifest, description."""
