"""The table of the log, and the causes that it and other tables are evidence of."""
