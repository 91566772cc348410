"""Code shared by the recording of messages on hosts and by its readers."""
