"""User interfaces: command line, Python API, preview, progress; they only translate."""
