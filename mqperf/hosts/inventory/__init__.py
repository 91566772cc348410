"""Inventories in Ansible's format: the hosts and the roles of each."""

from mqperf.hosts.inventory.inventory_file import ROLES, Inventory, address, listing, read

__all__ = ["ROLES", "Inventory", "address", "listing", "read"]
