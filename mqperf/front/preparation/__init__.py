"""Preparing hosts: Ansible installs there what their roles need, before anything is measured.

It never touches a host during a run.
"""

from mqperf.front.preparation.installation import prepare

__all__ = ["prepare"]
