"""What stands beside the page of the live view."""
