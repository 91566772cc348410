"""The functions, the command, and the program of a sweep in the background."""
