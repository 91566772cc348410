"""The command, and the site that it writes."""
