"""For notebooks: sweeps that outlive them and are found again, and choosing what is shown."""
