"""Folders of Debian releases, on a host."""
