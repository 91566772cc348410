"""How results of OpenStack's loads are shown."""
