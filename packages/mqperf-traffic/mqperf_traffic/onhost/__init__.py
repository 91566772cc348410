"""The program that replays traffic: it goes to hosts whole, with those on which it builds."""
