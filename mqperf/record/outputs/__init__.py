"""What load generators wrote into a run folder beside the record, read and checked."""
