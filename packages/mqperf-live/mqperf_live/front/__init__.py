"""The live page, and further documents of its server."""
