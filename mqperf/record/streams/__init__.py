"""Messages of a run folder, recorded as instants or counts, as streams."""
