"""What a plan may ask about links."""
