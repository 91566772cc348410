"""Tables made of the logs of probes."""
