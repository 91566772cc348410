"""Records of atop, read and checked."""
