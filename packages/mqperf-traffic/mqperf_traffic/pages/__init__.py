"""The section and the answer about replays."""
