"""How such programs get to hosts, and their orders to them."""
