"""How processes and folders end with whoever started them."""
