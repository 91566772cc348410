"""The doors: command line, Python API, preview, progress; they translate, and do nothing else."""
