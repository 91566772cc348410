"""How links are made and measured, and what disturbs them."""
