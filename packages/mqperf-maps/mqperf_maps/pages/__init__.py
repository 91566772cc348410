"""The map, and the section that has it."""
