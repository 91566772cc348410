"""Messages read back from a run folder: instants or counts, as streams."""
