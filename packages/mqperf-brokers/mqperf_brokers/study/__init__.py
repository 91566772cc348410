"""What bundles say that systems sustain, and how cells compare."""
