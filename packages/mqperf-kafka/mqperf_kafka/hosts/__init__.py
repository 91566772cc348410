"""Files of Kafka, which Maven fetches."""
