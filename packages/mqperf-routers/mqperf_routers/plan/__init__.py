"""Networks of routers, with brokers beside them: which there are, and how plans name them."""
