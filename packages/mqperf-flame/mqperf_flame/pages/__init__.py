"""The flame graph, and the section that has it."""
