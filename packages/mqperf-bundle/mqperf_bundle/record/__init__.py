"""What a bundle holds: copies of runs, hosts renamed, manifest, description."""
