"""The commands and functions for users.

Ansible installs what the roles of hosts need before anything is measured; it never touches a host
during a run.
"""
