"""What a plan may say of loads whose messages are sent by a schedule."""
