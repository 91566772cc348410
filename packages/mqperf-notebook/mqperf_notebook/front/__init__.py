"""The functions, the command, the drop-downs, and the program of a sweep in the background."""
