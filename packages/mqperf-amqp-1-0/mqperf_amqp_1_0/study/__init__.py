"""Tables and checks of a run from the generator's files beside the record of messages."""
