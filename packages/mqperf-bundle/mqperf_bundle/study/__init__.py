"""Tables of a bundle beside those that its runs give."""
