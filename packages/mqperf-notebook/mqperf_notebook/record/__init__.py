"""What a sweep in the background keeps beside its runs."""
