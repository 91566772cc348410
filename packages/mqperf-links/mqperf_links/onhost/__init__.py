"""Programs that carry and count packets on hosts.

It imports the standard library and itself, and goes to hosts whole.
"""
