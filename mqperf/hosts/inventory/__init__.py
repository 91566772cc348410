"""Inventories of hosts, in the format of Ansible: which hosts there are, and what each does."""

from mqperf.hosts.inventory.inventory_file import ROLES, Inventory, address, listing, read

__all__ = ["ROLES", "Inventory", "address", "listing", "read"]
