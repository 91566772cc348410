"""Third-party archives and jars that are fetched for hosts."""
