"""A packet relay: IP packets between network namespaces, delayed, lost and slowed on the way."""
