"""A gate for continuous integration: a plan is measured against a baseline, and passes or fails."""
