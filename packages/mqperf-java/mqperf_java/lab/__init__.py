"""How servers in Java are started."""
