"""Programs that run beside a link: the packet relay, and who measures it."""
