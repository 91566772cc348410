"""What plans may ask for: chains of RPCs, the traffic of compute nodes, and their parameters."""
