"""What runs beside nodes and asks them: it imports the standard library and modules of ours."""
