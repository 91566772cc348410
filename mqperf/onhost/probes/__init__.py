"""Programs that watch a host while it is measured."""
