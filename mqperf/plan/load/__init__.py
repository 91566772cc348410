"""What a plan may say of each load generator: the models of their parameters."""
