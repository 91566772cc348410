"""The live page, and what is served beside it."""
