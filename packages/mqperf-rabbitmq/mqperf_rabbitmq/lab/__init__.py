"""Free settings: what they are, which of them are mqperf's, and how nodes get them."""
