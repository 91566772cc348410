"""How private routers are started, and asked whether they have found each other."""
