"""The logs of probes in a run folder, read and checked."""
