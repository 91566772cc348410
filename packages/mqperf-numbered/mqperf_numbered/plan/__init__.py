"""Plan parameters and questions of loads whose messages are sent by a schedule."""
