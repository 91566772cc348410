"""What a traffic profile is, and what a plan may say of its replay."""
