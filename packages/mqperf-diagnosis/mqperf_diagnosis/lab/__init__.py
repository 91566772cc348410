"""Starting the probe."""
