"""Running measurements: systems, load generators, probes, actions, links, and the runner."""
