"""The agent, which serves the controller's requests on a host that is reached over SSH."""
