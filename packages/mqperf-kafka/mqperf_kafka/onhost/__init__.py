"""What runs on a measured host, beside the broker.

It imports the standard library, mqperf's room of that name and itself, and the client of Kafka that
oslo.messaging brings; it goes to hosts whole.
"""
