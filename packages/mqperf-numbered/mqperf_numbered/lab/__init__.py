"""Installs load generators on hosts, and writes their orders."""
