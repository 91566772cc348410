"""How Kafka is started, and how oslo.messaging speaks to it."""
