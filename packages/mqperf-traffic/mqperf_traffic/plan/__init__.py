"""Traffic profiles, and plan parameters of their replay."""
