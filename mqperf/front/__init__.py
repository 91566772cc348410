"""The doors: command line, Python API, preview, progress. They translate, and do nothing themselves."""
