"""How programs on hosts record messages: counts and histograms of each second."""
