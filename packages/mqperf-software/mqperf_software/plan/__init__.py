"""The column of the version of Erlang."""
