"""What acts: systems, load generators, probes, actions, links, and the runner."""
