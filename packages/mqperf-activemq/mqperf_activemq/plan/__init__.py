"""What a plan may ask of the loads that speak the brokers' own protocols."""
