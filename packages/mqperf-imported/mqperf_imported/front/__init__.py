"""The command that reads them."""
