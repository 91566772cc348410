"""How traffic is captured, and how its replay is started."""
