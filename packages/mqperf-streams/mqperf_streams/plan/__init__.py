"""What a plan may say of a load of streams."""
