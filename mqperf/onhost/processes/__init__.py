"""Processes and folders that end with the process that started them."""
