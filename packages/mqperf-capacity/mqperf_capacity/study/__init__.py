"""The table of quotas, service demands of messages, and predictions from them."""
