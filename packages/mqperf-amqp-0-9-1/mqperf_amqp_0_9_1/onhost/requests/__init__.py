"""Requests to servers, and their replies, each of which a client's thread waits for."""
